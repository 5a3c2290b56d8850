//! An import beside a running server, while the importer and the Postgres of both are killed.
