//! Runs a future to its end from anywhere, a test's runtime included, which must not be blocked on itself.

/// Blocks until `future` is done, on a thread and a runtime of its own.
pub(crate) fn block_on<T: Send>(future: impl Future<Output = T> + Send) -> T {
    let run = || {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("make a runtime");
        runtime.block_on(future)
    };
    let ended = std::thread::scope(|scope| scope.spawn(run).join());
    ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
