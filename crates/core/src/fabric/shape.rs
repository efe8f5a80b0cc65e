//! What the words of the table mean as types and as JSON.

/// The type an operation takes.
#[doc(hidden)]
#[macro_export]
macro_rules! argument {
    ((of $id:ty)) => { $id };
    ((on $id:ty, $command:ty)) => { $crate::fabric::On<$id, $command> };
    ((many $name:ident: $command:ty)) => { Vec<$command> };
    (($command:ty)) => { $command };
}

/// The type an operation answers with.
#[doc(hidden)]
#[macro_export]
macro_rules! outcome {
    ((nothing)) => { () };
    ((bytes)) => { $crate::payload::Payload };
    ((maybe bytes)) => { Option<$crate::payload::Payload> };
    ((maybe $outcome:ty)) => { Option<$outcome> };
    ((list $name:ident: $outcome:ty)) => { Vec<$outcome> };
    ((each $name:ident: $outcome:ty)) => { Vec<$crate::fabric::Result<$outcome>> };
    (($outcome:ty)) => { $outcome };
}

/// Who may call an operation.
macro_rules! access {
    (anyone) => {
        Access::Anyone
    };
    (worker) => {
        Access::Role(Role::Worker)
    };
    (reader) => {
        Access::Role(Role::Reader)
    };
    (submitter) => {
        Access::Role(Role::Submitter)
    };
    (operator) => {
        Access::Role(Role::Operator)
    };
    (admin) => {
        Access::Role(Role::Admin)
    };
    (reader or holder) => {
        Access::RoleOrHolder(Role::Reader)
    };
    (submitter or holder) => {
        Access::RoleOrHolder(Role::Submitter)
    };
}

/// Reads what an operation takes from the fields of a request.
macro_rules! read_argument {
    ((of $id:ty), $fields:expr) => {
        <$id>::from($crate::wire::read::<<$id as $crate::fabric::Target>::Fields>(
            $fields,
            $crate::wire::Unknown::Refused,
        )?)
    };
    ((on $id:ty, $command:ty), $fields:expr) => {
        $crate::wire::read::<$crate::fabric::On<$id, $command>>($fields, $crate::wire::Unknown::Refused)?
    };
    ((many $name:ident: $command:ty), $fields:expr) => {
        $crate::wire::read_many::<$command>($fields, stringify!($name))?
    };
    (($command:ty), $fields:expr) => {
        $crate::wire::read::<$command>($fields, $crate::wire::Unknown::Refused)?
    };
}

/// Writes what an operation takes as the JSON of its fields.
macro_rules! write_argument {
    ((of $id:ty), $command:expr) => {
        $crate::wire::to_json(&<$id as $crate::fabric::Target>::Fields::from($command))
    };
    ((many $name:ident: $command:ty), $commands:expr) => {{
        #[derive(serde::Serialize)]
        struct Many {
            $name: Vec<$command>,
        }
        $crate::wire::to_json(&Many { $name: $commands })
    }};
    ($take:tt, $command:expr) => {
        $crate::wire::to_json(&$command)
    };
}

/// Writes what an operation answered.
macro_rules! write_outcome {
    ((nothing), $answer:expr) => {{
        let () = $answer;
        Ok($crate::fabric::Reply::Nothing)
    }};
    ((bytes), $answer:expr) => {
        Ok($crate::fabric::Reply::Bytes($answer))
    };
    ((maybe bytes), $answer:expr) => {
        Ok($answer.map_or($crate::fabric::Reply::Nothing, $crate::fabric::Reply::Bytes))
    };
    ((maybe $outcome:ty), $answer:expr) => {
        match $answer {
            Some(outcome) => $crate::fabric::Reply::json(&outcome),
            None => Ok($crate::fabric::Reply::Nothing),
        }
    };
    ((list $name:ident: $outcome:ty), $answer:expr) => {{
        #[derive(serde::Serialize)]
        struct List {
            $name: Vec<$outcome>,
        }
        $crate::fabric::Reply::json(&List { $name: $answer })
    }};
    ((each $name:ident: $outcome:ty), $answer:expr) => {{
        #[derive(serde::Serialize)]
        struct Each {
            #[serde(with = "crate::wire::answers")]
            $name: Vec<$crate::fabric::Result<$outcome>>,
        }
        $crate::fabric::Reply::json(&Each { $name: $answer })
    }};
    (($outcome:ty), $answer:expr) => {
        $crate::fabric::Reply::json(&$answer)
    };
}

/// Reads what an operation answered.
macro_rules! read_outcome {
    ((nothing), $reply:expr) => {{
        let _: $crate::fabric::Reply = $reply;
        Ok(())
    }};
    ((bytes), $reply:expr) => {
        $reply.bytes()
    };
    ((maybe bytes), $reply:expr) => {
        match $reply {
            $crate::fabric::Reply::Nothing => Ok(None),
            reply => reply.bytes().map(Some),
        }
    };
    ((maybe $outcome:ty), $reply:expr) => {
        match $reply {
            $crate::fabric::Reply::Nothing => Ok(None),
            reply => reply.read::<$outcome>().map(Some),
        }
    };
    ((list $name:ident: $outcome:ty), $reply:expr) => {{
        #[derive(serde::Deserialize)]
        struct List {
            $name: Vec<$outcome>,
        }
        $reply.read::<List>().map(|list| list.$name)
    }};
    ((each $name:ident: $outcome:ty), $reply:expr) => {{
        #[derive(serde::Deserialize)]
        struct Each {
            #[serde(with = "crate::wire::answers")]
            $name: Vec<$crate::fabric::Result<$outcome>>,
        }
        $reply.read::<Each>().map(|each| each.$name)
    }};
    (($outcome:ty), $reply:expr) => {
        $reply.read::<$outcome>()
    };
}

/// The schema of what an operation takes.
#[cfg(feature = "schema")]
macro_rules! schema_of_argument {
    ((of $id:ty), $schemas:expr) => {
        $schemas.request::<<$id as $crate::fabric::Target>::Fields>()
    };
    ((on $id:ty, $command:ty), $schemas:expr) => {
        $schemas.request::<$crate::fabric::On<$id, $command>>()
    };
    ((many $name:ident: $command:ty), $schemas:expr) => {
        $crate::schema::list(stringify!($name), &$schemas.request::<$command>())
    };
    (($command:ty), $schemas:expr) => {
        $schemas.request::<$command>()
    };
}

/// The schema of what an operation answers.
#[cfg(feature = "schema")]
macro_rules! schema_of_outcome {
    ((nothing), $schemas:expr) => {
        $crate::schema::Gives::Nothing
    };
    ((bytes), $schemas:expr) => {
        $crate::schema::Gives::Bytes { maybe: false }
    };
    ((maybe bytes), $schemas:expr) => {
        $crate::schema::Gives::Bytes { maybe: true }
    };
    ((maybe $outcome:ty), $schemas:expr) => {
        $crate::schema::Gives::Json {
            schema: $schemas.reply::<$outcome>(),
            maybe: true,
        }
    };
    ((list $name:ident: $outcome:ty), $schemas:expr) => {
        $crate::schema::Gives::json($crate::schema::list(stringify!($name), &$schemas.reply::<$outcome>()))
    };
    ((each $name:ident: $outcome:ty), $schemas:expr) => {
        $crate::schema::Gives::json($crate::schema::list(
            stringify!($name),
            &$schemas.reply::<$crate::wire::answers::Answer<$outcome>>(),
        ))
    };
    (($outcome:ty), $schemas:expr) => {
        $crate::schema::Gives::json($schemas.reply::<$outcome>())
    };
}
