"""Write a key and a self-signed certificate for 127.0.0.1 and localhost: make_certificate.py CERT KEY.

MiniStack can create one itself, but it needs the openssl command for that (ministack/core/tls.py, resolve_tls_material),
which a machine with Node and Python may lack. This one also exists before the emulator starts, so the environment of
every caller can contain its path.
"""

import datetime
import ipaddress
import os
import secrets
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


def main(cert_path: str, key_path: str) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    # A name of its own, as a client that trusts two certificates of one name may check one with the key of the other.
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"cosecha-local {secrets.token_hex(8)}")])
    now = datetime.datetime.now(datetime.timezone.utc)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # From a day ago, for clocks that differ, to a month ahead, as each run creates its own.
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=30))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    with open(os.open(key_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
        out.write(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
    with open(cert_path, "wb") as out:
        out.write(certificate.public_bytes(serialization.Encoding.PEM))


main(*sys.argv[1:])
