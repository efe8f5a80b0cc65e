//! `#[derive(Task)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{DeriveInput, Result, Type, parse_quote};

use crate::{duration, name, value};

/// Everything `#[task(…)]` understands.
const KNOWN: &str = "kind, output, inputs, lane, priority, retries, backoff, retry_on, attempt_timeout, deadline, retention, \
                     capabilities";
/// The highest priority.
const PRIORITY_MAX: u16 = 9_000;

/// What `#[task(…)]` said.
struct Attributes {
    kind: Option<String>,
    output: Type,
    inputs: Type,
    /// Calls of methods of the options.
    options: Vec<TokenStream>,
    said: Vec<String>,
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let attributes = Attributes::read(input)?;
    let Some(kind) = &attributes.kind else {
        let missing = "a task needs a kind, which workers know it by: #[task(kind = \"summarize\", output = Summary)]";
        return Err(syn::Error::new(input.ident.span(), missing));
    };
    let (output, inputs, options) = (&attributes.output, &attributes.inputs, &attributes.options);
    let task = &input.ident;
    let (generics, types, bounds) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #generics ::ff_sdk::Task for #task #types #bounds {
            const KIND: &'static str = #kind;
            type Output = #output;
            type Inputs = #inputs;

            fn options() -> ::ff_sdk::TaskOptions {
                ::ff_sdk::TaskOptions::new() #(.#options)*
            }
        }
    })
}

impl Attributes {
    fn read(input: &DeriveInput) -> Result<Self> {
        let mut read = Self {
            kind: None,
            output: parse_quote!(()),
            inputs: parse_quote!(()),
            options: Vec::new(),
            said: Vec::new(),
        };
        for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("task")) {
            attribute.parse_nested_meta(|meta| read.take(&meta))?;
        }
        Ok(read)
    }

    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let said = value::name(meta);
        if self.said.contains(&said) {
            return Err(syn::Error::new(meta.path.span(), format!("`{said}` is said twice")));
        }
        match said.as_str() {
            "kind" => self.kind = Some(value::text(meta, name::check_kind)?),
            "output" => self.output = meta.value()?.parse()?,
            "inputs" => self.inputs = meta.value()?.parse()?,
            _ => self.options.push(option(&said, meta)?),
        }
        self.said.push(said);
        Ok(())
    }
}

/// The call that says an option.
fn option(said: &str, meta: &ParseNestedMeta<'_>) -> Result<TokenStream> {
    Ok(match said {
        "lane" => {
            let lane = value::text(meta, name::check_lane)?;
            quote!(lane(#lane))
        }
        "priority" => {
            let priority = value::number(meta, PRIORITY_MAX)?;
            quote!(priority(#priority))
        }
        "retries" => {
            let retries = value::number(meta, u32::MAX)?;
            quote!(retries(#retries))
        }
        "backoff" => {
            let (_, (first, longest)) = value::parsed(meta, duration::range)?;
            let (first, longest) = (span(first), span(longest));
            quote!(backoff(#first..#longest))
        }
        "retry_on" => {
            let categories = value::texts(meta, name::check_category)?;
            quote!(retry_on([#(#categories),*] as [&str; _]))
        }
        "attempt_timeout" | "deadline" | "retention" => {
            let (_, millis) = value::parsed(meta, duration::millis)?;
            let (method, span) = (&meta.path, span(millis));
            quote!(#method(#span))
        }
        "capabilities" => {
            let capabilities = value::texts(meta, |_| Ok(()))?;
            quote!(capabilities([#(#capabilities),*] as [&str; _]))
        }
        _ => {
            let unknown = format!("a task has no `{said}`; it has {KNOWN}");
            return Err(syn::Error::new(meta.path.span(), unknown));
        }
    })
}

/// A length of time as it stands in code.
fn span(millis: u64) -> TokenStream {
    quote!(::std::time::Duration::from_millis(#millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(task: &DeriveInput) -> String {
        derive(task).unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_is_what_one_would_write() {
        let written = derive(&parse_quote! {
            #[task(kind = "resize", output = Image, retries = 2, attempt_timeout = "90s", capabilities = ["gpu"])]
            struct Resize {}
        });
        let by_hand = quote! {
            #[automatically_derived]
            impl ::ff_sdk::Task for Resize {
                const KIND: &'static str = "resize";
                type Output = Image;
                type Inputs = ();

                fn options() -> ::ff_sdk::TaskOptions {
                    ::ff_sdk::TaskOptions::new()
                        .retries(2u32)
                        .attempt_timeout(::std::time::Duration::from_millis(90000u64))
                        .capabilities(["gpu"] as [&str; _])
                }
            }
        };
        assert_eq!(written.unwrap().to_string(), by_hand.to_string());
    }

    #[test]
    fn a_task_without_a_kind_is_told_how_to_say_it() {
        let missing = "a task needs a kind, which workers know it by: #[task(kind = \"summarize\", output = Summary)]";
        assert_eq!(refused(&parse_quote! { struct Nothing; }), missing);
        assert_eq!(
            refused(&parse_quote! { #[task(output = u32)] struct Nothing; }),
            missing
        );
    }

    #[test]
    fn a_value_that_cannot_be_is_refused_in_a_sentence() {
        let cases: [(DeriveInput, &str); 10] = [
            (
                parse_quote! { #[task(kind = "two words")] struct T; },
                "a kind cannot contain ' '",
            ),
            (
                parse_quote! { #[task(kind = summarize)] struct T; },
                "`kind` is a text in quotes",
            ),
            (
                parse_quote! { #[task(kind = "a", lane = "größe")] struct T; },
                "a lane cannot contain 'ö'",
            ),
            (
                parse_quote! { #[task(kind = "a", priority = 9_001)] struct T; },
                "`priority` is a number from 0 to 9000",
            ),
            (
                parse_quote! { #[task(kind = "a", retries = "5")] struct T; },
                "`retries` is a number from 0 to 4294967295",
            ),
            (
                parse_quote! { #[task(kind = "a", attempt_timeout = "90")] struct T; },
                "\"90\" is no length of time: say a number and a unit, as in \"500ms\", \"90s\", \"5m\", \"2h\" or \"7d\"",
            ),
            (
                parse_quote! { #[task(kind = "a", backoff = "30s..1s")] struct T; },
                "\"30s..1s\" begins with its longest pause: the first comes first, as in \"1s..30s\"",
            ),
            (
                parse_quote! { #[task(kind = "a", capabilities = "gpu")] struct T; },
                "`capabilities` is a list of texts: [\"one\", \"two\"]",
            ),
            (
                parse_quote! { #[task(kind = "a", kind = "b")] struct T; },
                "`kind` is said twice",
            ),
            (
                parse_quote! { #[task(kind = "a", timeout = "90s")] struct T; },
                "a task has no `timeout`; it has kind, output, inputs, lane, priority, retries, backoff, retry_on, \
                 attempt_timeout, deadline, retention, capabilities",
            ),
        ];
        for (task, sentence) in cases {
            assert_eq!(refused(&task), sentence);
        }
    }
}
