//! How often something goes wrong.

/// Set to anything, it says that there is time.
const FULL: &str = "FF_TEST_FAULTS_FULL";

/// The first usually, the second when there is time.
pub(crate) fn usually_or_in_full<T>((usually, in_full): (T, T)) -> T {
    if std::env::var_os(FULL).is_some() {
        in_full
    } else {
        usually
    }
}
