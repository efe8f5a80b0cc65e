//! Tags on the command line.

use ff_core::view::WantedTag;

use super::id::NAME;

/// Tags that are given.
#[derive(clap::Args)]
pub(crate) struct TagArguments {
    /// A label, as KEY=VALUE. May be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = tag)]
    tag: Vec<WantedTag>,
}

impl TagArguments {
    /// Keys and values.
    pub(crate) fn tags(&self) -> impl Iterator<Item = (String, String)> {
        self.tag.iter().map(|tag| (tag.key.clone(), tag.value.clone()))
    }
}

/// The tag that gives something this name.
pub(crate) fn name_tag(name: Option<&str>) -> Option<(String, String)> {
    name.map(|name| (NAME.to_owned(), name.to_owned()))
}

/// Reads `KEY=VALUE`.
pub(crate) fn tag(text: &str) -> Result<WantedTag, String> {
    let (key, value) = text.split_once('=').ok_or("a tag is KEY=VALUE")?;
    Ok(WantedTag {
        key: key.to_owned(),
        value: value.to_owned(),
    })
}

/// Tags for a person.
pub(crate) fn shown(tags: &ff_core::record::Tags) -> Option<String> {
    let tags: Vec<_> = tags.iter().filter(|(key, _)| *key != NAME).collect();
    let tags: Vec<_> = tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
    (!tags.is_empty()).then(|| tags.join(" "))
}
