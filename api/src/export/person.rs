//! Takes out what one person may see now, through the same queries as their own client: conversation by conversation,
//! each in a file, and their notifications. Then a manifest, and pages for a browser if they are wanted.
//!
//! What is interrupted goes on: finished conversations stay as they are, the one under way goes on after its last line.

mod html;
mod list;
mod models;
mod write;

use std::{
    error::Error,
    io::{self, Write as _},
    path::Path,
    process::ExitCode,
};

use domain::Uid;
use event_store::Action;

pub use list::Listed;
pub use models::{Models, ModelsError};
pub use write::{Manifest, PersonError, PersonExport};

use super::Format;
use crate::{
    audit::{Asked, Session},
    config::Config,
};

/// Says at the end what there is, also where there is nothing to do any more.
pub async fn command(
    config: &Config,
    uid: Uid,
    out: &Path,
    format: Format,
) -> Result<ExitCode, Box<dyn Error>> {
    let mut manifest = write::finished(out, uid)?;
    if manifest.is_some() {
        writeln!(io::stdout(), "{} is complete; a newer one wants another directory", out.display())?;
    } else {
        let session = Session::open(config).await?;
        let done = from_log(&session, uid, out).await;
        session.close().await?;
        manifest = Some(done?);
    }
    let Some(manifest) = manifest else { return Ok(ExitCode::FAILURE) };
    if format == Format::Html {
        html::render(out, &manifest)?;
    }
    let Manifest { conversations, items, notifications, .. } = &manifest;
    writeln!(
        io::stdout(),
        "{}: what {uid} may see: messages {items}, conversations {conversations}, notifications {notifications}",
        out.display()
    )?;
    Ok(ExitCode::SUCCESS)
}

async fn from_log(session: &Session, uid: Uid, out: &Path) -> Result<Manifest, Box<dyn Error>> {
    session.record(Action::ExportPerson, Asked::about(uid)).await?;
    let models = Models::start(session).await?;
    let written = async {
        models.caught_up().await?;
        let export = PersonExport { models: &models, uid, log_id: session.store.info().log_id };
        Ok::<_, Box<dyn Error>>(export.write(out).await?)
    };
    let written = written.await;
    models.stop().await;
    written
}
