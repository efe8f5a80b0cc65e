//! TLS: a certificate and its key from files, which may be renewed while the server runs.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The certificate of a server.
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    current: RwLock<Arc<ServerConfig>>,
}

impl Tls {
    /// Reads the certificate, with those that vouch for it behind it, and its key. Both are PEM files.
    pub fn load(certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> io::Result<Self> {
        let (certificate, key) = (certificate.into(), key.into());
        Ok(Self {
            current: RwLock::new(read(&certificate, &key)?),
            certificate,
            key,
        })
    }

    /// Reads the files again; connections from now on use what is in them. If they cannot be used, nothing changes.
    pub fn reload(&self) -> io::Result<()> {
        let renewed = read(&self.certificate, &self.key)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = renewed;
        Ok(())
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)).into()
    }
}

fn read(certificate: &Path, key: &Path) -> io::Result<Arc<ServerConfig>> {
    let unusable = |path: &Path, why: &dyn std::fmt::Display| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("cannot use {}: {why}", path.display()),
        )
    };
    let chain: Vec<_> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| unusable(certificate, &error))?;
    // What is wrong with a key is said without repeating any of it.
    let private = PrivateKeyDer::from_pem_file(key).map_err(|_| unusable(key, &"there is no private key in it"))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, private))
        .map_err(|error| unusable(certificate, &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
