//! Values of attributes: read, checked, and refused where they stand.

use std::fmt::Display;
use std::str::FromStr;

use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::{LitInt, LitStr, Result, Token, bracketed};

/// A text that passes `check`.
pub(crate) fn text(meta: &ParseNestedMeta<'_>, check: fn(&str) -> std::result::Result<(), String>) -> Result<String> {
    let (value, ()) = parsed(meta, check)?;
    Ok(value)
}

/// A text with what `read` makes of it.
pub(crate) fn parsed<T>(
    meta: &ParseNestedMeta<'_>,
    read: impl FnOnce(&str) -> std::result::Result<T, String>,
) -> Result<(String, T)> {
    let literal = literal(meta)?;
    let text = literal.value();
    let value = read(&text).map_err(|problem| syn::Error::new(literal.span(), problem))?;
    Ok((text, value))
}

/// Several texts in brackets, each of which passes `check`.
pub(crate) fn texts(
    meta: &ParseNestedMeta<'_>,
    check: fn(&str) -> std::result::Result<(), String>,
) -> Result<Vec<String>> {
    let input = meta.value()?;
    if !input.peek(syn::token::Bracket) {
        return Err(input.error(format!("`{}` is a list of texts: [\"one\", \"two\"]", name(meta))));
    }
    let content;
    bracketed!(content in input);
    let items: Punctuated<LitStr, Token![,]> = content.parse_terminated(|item| item.parse::<LitStr>(), Token![,])?;
    let checked = |item: &LitStr| match check(&item.value()) {
        Ok(()) => Ok(item.value()),
        Err(problem) => Err(syn::Error::new(item.span(), problem)),
    };
    items.iter().map(checked).collect()
}

/// A number up to `max`.
pub(crate) fn number<N>(meta: &ParseNestedMeta<'_>, max: N) -> Result<N>
where
    N: FromStr<Err: Display> + PartialOrd + Display + Copy,
{
    let input = meta.value()?;
    let wanted = format!("`{}` is a number from 0 to {max}", name(meta));
    let literal: LitInt = input
        .parse()
        .map_err(|error: syn::Error| syn::Error::new(error.span(), &wanted))?;
    let value: N = literal
        .base10_parse()
        .map_err(|error| syn::Error::new(error.span(), &wanted))?;
    match value <= max {
        true => Ok(value),
        false => Err(syn::Error::new(literal.span(), wanted)),
    }
}

/// What the attribute is called.
pub(crate) fn name(meta: &ParseNestedMeta<'_>) -> String {
    meta.path.get_ident().map(ToString::to_string).unwrap_or_default()
}

fn literal(meta: &ParseNestedMeta<'_>) -> Result<LitStr> {
    let input = meta.value()?;
    let wanted = format!("`{}` is a text in quotes", name(meta));
    input
        .parse()
        .map_err(|error: syn::Error| syn::Error::new(error.span(), wanted))
}
