//! Serves a router on a listener until it is told to stop, and then lets what is under way end. Knows no routes.

use std::{future::Future, io, time::Duration};

use axum::{
    Router,
    serve::{ListenerExt, serve as axum_serve},
};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    sync::{oneshot, watch},
};

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

/// Listens for SIGINT and SIGTERM from now on: the value becomes true with the first of them.
pub fn signals() -> io::Result<watch::Receiver<bool>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let (told, stopped) = watch::channel(false);
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => tracing::info!("stopping: interrupted"),
            _ = terminate.recv() => tracing::info!("stopping: told to terminate"),
        }
        told.send_replace(true);
        // Kept, so that nobody takes the end of this task for a signal, or the other way round.
        told.closed().await;
    });
    Ok(stopped)
}

/// Resolves once `stopped` is true.
pub async fn told(mut stopped: watch::Receiver<bool>) {
    // An error would mean that nobody can tell any more: then it is time to stop, too.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}
