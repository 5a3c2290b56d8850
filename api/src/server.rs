//! Serves a router on a listener until it is told to stop, and then lets what is under way end. Knows no routes.

use std::{future::Future, io, time::Duration};

use axum::{
    Router,
    serve::{ListenerExt, serve as axum_serve},
};
use tokio::{net::TcpListener, sync::oneshot};

/// What is under way may take this long after the signal: longer than any command or answer waits.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(10);

/// Serves until `shutdown` resolves; then takes nothing new, and ends when what is under way has been answered, at
/// the latest after ten seconds.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let (told, draining) = oneshot::channel();
    let signal = async move {
        shutdown.await;
        // Nobody listens where the server has already ended.
        let _ = told.send(());
    };
    let listener = listener.tap_io(|connection| {
        // An answer is one write; waiting for more only delays it. Where it cannot be set, it is slower.
        let _ = connection.set_nodelay(true);
    });
    let serving = axum_serve(listener, router).with_graceful_shutdown(signal);
    let too_long = async move {
        let _ = draining.await;
        tokio::time::sleep(DRAIN_TIME_MAX).await;
    };
    tokio::select! {
        ended = serving.into_future() => ended,
        () = too_long => {
            tracing::warn!("some requests did not end in {DRAIN_TIME_MAX:?} and are cut off");
            Ok(())
        }
    }
}

/// Resolves at SIGINT or SIGTERM.
pub async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let wait = async |kind| match signal(kind) {
        Ok(mut signals) => {
            signals.recv().await;
        }
        // Then the process ends as if it had no handler, when the system ends it.
        Err(error) => {
            tracing::error!(%error, "cannot listen for signals");
            std::future::pending().await
        }
    };
    tokio::select! {
        () = wait(SignalKind::interrupt()) => tracing::info!("stopping: interrupted"),
        () = wait(SignalKind::terminate()) => tracing::info!("stopping: told to terminate"),
    }
}
