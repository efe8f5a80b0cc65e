//! What the crate shows to the world, one line for each name: changes of it are seen in `crates/sdk/surface.txt`.
//!
//! The sources are read, not the compiled crate: `pub mod` and `pub use` are followed from the root. Methods are listed with their
//! type, but for those that macros write. What another crate defines is listed where it is passed on, and not looked into.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::{Fields, ImplItem, Item, TraitItem, UseTree, Visibility};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn the_public_surface_is_what_was_agreed() {
    let surface = surface();
    let file = Path::new(ROOT).join("surface.txt");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &surface).unwrap();
        return;
    }
    let agreed = std::fs::read_to_string(&file).unwrap();
    let (old, new): (BTreeSet<&str>, BTreeSet<&str>) = (agreed.lines().collect(), surface.lines().collect());
    let gone: Vec<_> = old.difference(&new).collect();
    let come: Vec<_> = new.difference(&old).collect();
    assert!(
        agreed == surface,
        "the surface of ff-sdk has changed: gone {gone:#?}, new {come:#?}; if that is meant, run with UPDATE_DOCS=1"
    );
}

#[test]
fn it_knows_what_a_program_needs() {
    let surface = surface();
    for line in [
        "fn ff_sdk::secs",
        "struct ff_sdk::Client",
        "fn ff_sdk::Client::submit",
        "fn ff_sdk::Ctx::step",
        "enum ff_sdk::Stop",
        "variant ff_sdk::Stop::Draining",
        "trait ff_sdk::Task",
        "fn ff_sdk::test::TestEngine::advance",
    ] {
        assert!(surface.lines().any(|found| found == line), "{line}");
    }
    assert!(
        !surface.contains("ff_sdk::worker::Shared"),
        "what is private is not listed"
    );
}

fn surface() -> String {
    let root = Module::read(&Path::new(ROOT).join("src/lib.rs"), true);
    let mut lines = BTreeSet::new();
    let mut walk = Walk {
        root: &root,
        methods: methods(&root),
        seen: BTreeMap::new(),
        lines: &mut lines,
    };
    walk.module(&root, "ff_sdk");
    lines.into_iter().map(|line| line + "\n").collect()
}

/// A module of the crate with those inside it.
struct Module {
    items: Vec<Item>,
    inside: BTreeMap<String, (bool, Module)>,
}

impl Module {
    fn read(file: &Path, is_root: bool) -> Self {
        let text = std::fs::read_to_string(file).unwrap();
        let items = syn::parse_file(&text).unwrap().items;
        let folder = match is_root || file.ends_with("mod.rs") {
            true => file.parent().unwrap().to_owned(),
            false => file.with_extension(""),
        };
        let mut inside = BTreeMap::new();
        for item in &items {
            if let Item::Mod(module) = item
                && module.content.is_none()
            {
                let name = module.ident.to_string();
                let read = Self::read(&source_of(&folder, &name), false);
                inside.insert(name, (is_public(&module.vis), read));
            }
        }
        Self { items, inside }
    }

    fn all(&self) -> Vec<&Self> {
        let mut all = vec![self];
        all.extend(self.inside.values().flat_map(|(_, module)| module.all()));
        all
    }

    /// The item of this name that is defined here.
    fn item(&self, name: &str) -> Option<&Item> {
        self.items
            .iter()
            .find(|item| named(item).is_some_and(|(_, found, _)| found == name))
    }
}

fn source_of(folder: &Path, name: &str) -> PathBuf {
    let file = folder.join(format!("{name}.rs"));
    if file.exists() {
        file
    } else {
        folder.join(name).join("mod.rs")
    }
}

/// Public methods by the name of their type. Names of types are used once in the crate, but for private ones.
fn methods(root: &Module) -> BTreeMap<String, BTreeSet<String>> {
    let mut methods: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for item in root.all().into_iter().flat_map(|module| &module.items) {
        let Item::Impl(block) = item else { continue };
        let syn::Type::Path(path) = &*block.self_ty else {
            continue;
        };
        if block.trait_.is_some() {
            continue;
        }
        let of = path.path.segments.last().unwrap().ident.to_string();
        let public = block.items.iter().filter_map(|item| match item {
            ImplItem::Fn(method) if is_public(&method.vis) => Some(format!("fn {}", method.sig.ident)),
            ImplItem::Const(constant) if is_public(&constant.vis) => Some(format!("const {}", constant.ident)),
            _ => None,
        });
        methods.entry(of).or_default().extend(public);
    }
    methods
}

struct Walk<'w> {
    root: &'w Module,
    methods: BTreeMap<String, BTreeSet<String>>,
    /// Where each item was met first.
    seen: BTreeMap<*const Item, String>,
    lines: &'w mut BTreeSet<String>,
}

impl Walk<'_> {
    /// What is passed on comes first, so that things are listed where most people find them.
    fn module(&mut self, module: &Module, path: &str) {
        for item in &module.items {
            if let Item::Use(passed_on) = item
                && is_public(&passed_on.vis)
            {
                let mut names = Vec::new();
                flatten(&passed_on.tree, &mut Vec::new(), &mut names);
                for (from, name) in names {
                    self.passed_on(module, &from, &format!("{path}::{name}"));
                }
            }
        }
        for item in &module.items {
            match item {
                Item::Mod(inner) if is_public(&inner.vis) => {
                    let path = format!("{path}::{}", inner.ident);
                    self.lines.insert(format!("mod {path}"));
                    if let Some((_, inner)) = module.inside.get(&inner.ident.to_string()) {
                        self.module(inner, &path);
                    }
                }
                item => {
                    if let Some((_, name, true)) = named(item) {
                        self.item(item, &format!("{path}::{name}"));
                    }
                }
            }
        }
    }

    /// What `pub use` names: ours, or another crate's.
    fn passed_on(&mut self, here: &Module, from: &[String], shown: &str) {
        match follow(self.root, here, from) {
            Some(item) => self.item(item, shown),
            None => {
                self.lines.insert(format!("use {shown} = {}", from.join("::")));
            }
        }
    }

    /// Lists an item, with all of it where it is met first.
    fn item(&mut self, item: &Item, shown: &str) {
        let Some((kind, name, _)) = named(item) else { return };
        if let Some(first) = self.seen.get(&std::ptr::from_ref(item)) {
            self.lines.insert(format!("use {shown} = {first}"));
            return;
        }
        self.seen.insert(item, shown.to_owned());
        self.lines.insert(format!("{kind} {shown}"));
        for method in self.methods.get(&name).into_iter().flatten() {
            let (kind, method) = method.split_once(' ').unwrap();
            self.lines.insert(format!("{kind} {shown}::{method}"));
        }
        match item {
            Item::Enum(of) => {
                let variants = of
                    .variants
                    .iter()
                    .map(|variant| format!("variant {shown}::{}", variant.ident));
                self.lines.extend(variants);
            }
            Item::Struct(of) => {
                if let Fields::Named(fields) = &of.fields {
                    let public = fields.named.iter().filter(|field| is_public(&field.vis));
                    let names = public.filter_map(|field| field.ident.as_ref());
                    self.lines.extend(names.map(|name| format!("field {shown}::{name}")));
                }
            }
            Item::Trait(of) => {
                let methods = of.items.iter().filter_map(|item| match item {
                    TraitItem::Fn(method) => Some(format!("fn {shown}::{}", method.sig.ident)),
                    TraitItem::Const(constant) => Some(format!("const {shown}::{}", constant.ident)),
                    TraitItem::Type(of) => Some(format!("type {shown}::{}", of.ident)),
                    _ => None,
                });
                self.lines.extend(methods);
            }
            _ => {}
        }
    }
}

/// The item at a path, by way of what modules pass on themselves.
fn find<'m>(root: &'m Module, here: &'m Module, path: &[String]) -> Option<&'m Item> {
    let (first, rest) = path.split_first()?;
    if !rest.is_empty() {
        return find(root, &here.inside.get(first)?.1, rest);
    }
    here.item(first).or_else(|| {
        let uses = here.items.iter().filter_map(|item| match item {
            Item::Use(passed_on) => Some(&passed_on.tree),
            _ => None,
        });
        let mut names = Vec::new();
        uses.for_each(|tree| flatten(tree, &mut Vec::new(), &mut names));
        let (from, _) = names.into_iter().find(|(_, name)| name == first)?;
        follow(root, here, &from)
    })
}

/// The item that a `use` in `here` names, if it is ours.
fn follow<'m>(root: &'m Module, here: &'m Module, from: &[String]) -> Option<&'m Item> {
    match from.first()?.as_str() {
        "crate" => find(root, root, &from[1..]),
        "self" => find(root, here, &from[1..]),
        inside if here.inside.contains_key(inside) => find(root, here, from),
        _ => None,
    }
}

/// The names that a `use` brings, each with its path.
fn flatten(tree: &UseTree, before: &mut Vec<String>, names: &mut Vec<(Vec<String>, String)>) {
    let with = |before: &[String], last: String| before.iter().cloned().chain([last]).collect();
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(&path.tree, before, names);
            before.pop();
        }
        UseTree::Name(name) if name.ident == "self" => {
            names.push((before.clone(), before.last().cloned().unwrap_or_default()));
        }
        UseTree::Name(name) => names.push((with(before, name.ident.to_string()), name.ident.to_string())),
        UseTree::Rename(name) => names.push((with(before, name.ident.to_string()), name.rename.to_string())),
        UseTree::Glob(_) => names.push((with(before, "*".to_owned()), "*".to_owned())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, before, names)),
    }
}

/// Kind and name of an item, and whether it is public.
fn named(item: &Item) -> Option<(&'static str, String, bool)> {
    let (kind, name, visibility) = match item {
        Item::Const(of) => ("const", &of.ident, &of.vis),
        Item::Enum(of) => ("enum", &of.ident, &of.vis),
        Item::Fn(of) => ("fn", &of.sig.ident, &of.vis),
        Item::Struct(of) => ("struct", &of.ident, &of.vis),
        Item::Trait(of) => ("trait", &of.ident, &of.vis),
        Item::Type(of) => ("type", &of.ident, &of.vis),
        _ => return None,
    };
    Some((kind, name.to_string(), is_public(visibility)))
}

const fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}
