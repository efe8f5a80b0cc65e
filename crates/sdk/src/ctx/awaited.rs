//! What the calls of a context that are described before they are awaited have in common.

/// Makes a description something that can be awaited, once.
macro_rules! awaited {
    ($call:ident<$value:ident> => $output:ty, $run:expr) => {
        impl<$value: serde::de::DeserializeOwned + Send + 'static> std::future::IntoFuture for $call<$value> {
            type Output = Result<$output, $crate::task_error::TaskError>;
            type IntoFuture = futures::future::BoxFuture<'static, Self::Output>;

            fn into_future(self) -> Self::IntoFuture {
                let run = $run;
                Box::pin(run(self))
            }
        }
    };
}

pub(super) use awaited;
