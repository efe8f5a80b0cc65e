//! `#[derive(FromInputs)]`.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Field, Fields, Ident, Result, Type};

use crate::{name, value};

/// One field and what it reads.
struct Input<'f> {
    field: &'f Ident,
    ty: &'f Type,
    name: String,
    reads: Reads,
}

/// How many results a field reads: the name of the function that names it, and of the one that reads it.
#[derive(Clone, Copy)]
enum Reads {
    One,
    Maybe,
    Many,
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let inputs: Vec<Input<'_>> = fields(input)?.map(Input::read).collect::<Result<_>>()?;
    check_names(&inputs)?;
    let names = inputs.iter().map(Input::name);
    let reads = inputs.iter().map(Input::reading);
    let inputs = &input.ident;
    let (generics, types, bounds) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #generics ::ff_sdk::FromInputs for #inputs #types #bounds {
            const NAMES: &'static [::ff_sdk::inputs::InputName] = &[#(#names),*];

            fn from_inputs(
                inputs: &::ff_sdk::NamedInputs,
            ) -> ::core::result::Result<Self, ::ff_sdk::InputError> {
                ::core::result::Result::Ok(Self { #(#reads),* })
            }
        }
    })
}

fn fields(input: &DeriveInput) -> Result<impl Iterator<Item = &Field>> {
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => Ok(fields.named.iter()),
            _ => Err(no_names(input)),
        },
        _ => Err(no_names(input)),
    }
}

fn no_names(input: &DeriveInput) -> syn::Error {
    let wanted = "inputs are read by name: FromInputs is derived for a struct with a named field for each";
    syn::Error::new(input.ident.span(), wanted)
}

/// Refuses two fields that read the same: one of them would be a mistake.
fn check_names(inputs: &[Input<'_>]) -> Result<()> {
    let mut seen = BTreeMap::new();
    for input in inputs {
        if let Some(other) = seen.insert(&input.name, input.field) {
            let twice = format!("`{other}` reads the input {:?} already", input.name);
            return Err(syn::Error::new(input.field.span(), twice));
        }
    }
    Ok(())
}

impl<'f> Input<'f> {
    fn read(field: &'f Field) -> Result<Self> {
        let ident = field
            .ident
            .as_ref()
            .ok_or_else(|| syn::Error::new(field.span(), "a field without a name"))?;
        let mut input = Self {
            field: ident,
            ty: &field.ty,
            // A raw identifier is only a way to write a name that Rust has another use for.
            name: ident.to_string().trim_start_matches("r#").to_owned(),
            reads: Reads::of(&field.ty),
        };
        for attribute in field
            .attrs
            .iter()
            .filter(|attribute| attribute.path().is_ident("input"))
        {
            attribute.parse_nested_meta(|meta| {
                match value::name(&meta).as_str() {
                    "name" => input.name = value::text(&meta, name::check_input)?,
                    "single" => input.reads = Reads::One,
                    other => return Err(meta.error(format!("an input has no `{other}`; it has name, single"))),
                }
                Ok(())
            })?;
        }
        Ok(input)
    }

    /// What is read, as flows are checked against.
    fn name(&self) -> TokenStream {
        let (name, function) = (&self.name, self.reads.function(self.field));
        quote!(::ff_sdk::inputs::InputName::#function(#name))
    }

    /// The field with what is read into it. What does not fit its type is told where the type stands.
    fn reading(&self) -> TokenStream {
        let (field, name, function) = (self.field, &self.name, self.reads.function(self.field));
        quote_spanned!(self.ty.span()=> #field: inputs.#function(#name)?)
    }
}

impl Reads {
    fn of(ty: &Type) -> Self {
        let Type::Path(path) = ty else { return Self::One };
        match path.path.segments.last() {
            Some(last) if last.ident == "Vec" => Self::Many,
            Some(last) if last.ident == "Option" => Self::Maybe,
            _ => Self::One,
        }
    }

    fn function(self, field: &Ident) -> Ident {
        let function = match self {
            Self::One => "one",
            Self::Maybe => "maybe",
            Self::Many => "many",
        };
        Ident::new(function, field.span())
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn what_has_no_named_fields_is_refused() {
        let wanted = "inputs are read by name: FromInputs is derived for a struct with a named field for each";
        let nameless: [DeriveInput; 3] = [
            parse_quote! { enum Either { One, Other } },
            parse_quote! { struct Pair(String, String); },
            parse_quote! { struct Unit; },
        ];
        for input in nameless {
            assert_eq!(derive(&input).unwrap_err().to_string(), wanted);
        }
    }

    #[test]
    fn attributes_that_cannot_be_are_refused_in_a_sentence() {
        let cases: [(DeriveInput, &str); 3] = [
            (
                parse_quote! { struct I { a: u32, #[input(name = "a")] b: u32 } },
                "`a` reads the input \"a\" already",
            ),
            (
                parse_quote! { struct I { #[input(name = "")] a: u32 } },
                "a name of an input is not empty",
            ),
            (
                parse_quote! { struct I { #[input(rename = "b")] a: u32 } },
                "an input has no `rename`; it has name, single",
            ),
        ];
        for (input, sentence) in cases {
            assert_eq!(derive(&input).unwrap_err().to_string(), sentence);
        }
    }

    #[test]
    fn the_type_of_a_field_says_how_many_it_reads() {
        let written = derive(&parse_quote! { struct I { a: u32, b: Option<u32>, c: std::vec::Vec<u32> } });
        let written = written.unwrap().to_string().replace(' ', "");
        for read in [
            "a:inputs.one(\"a\")?",
            "b:inputs.maybe(\"b\")?",
            "c:inputs.many(\"c\")?",
        ] {
            assert!(written.contains(read), "{read} in {written}");
        }
    }
}
