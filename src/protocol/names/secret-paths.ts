/**
 * Files that usually hold secrets, by name: policy asks before they are touched, searches skip
 * them.
 */
const SECRET = new RegExp(
  `(?:^|/)(?:${[
    String.raw`\.env(?:~|\.(?!example$|sample$|template$|dist$)[^/]*)?`,
    String.raw`\.envrc`,
    "id_(?:rsa|dsa|ecdsa|ed25519)(?:_[^/]*)?",
    String.raw`[^/]*\.(?:pem|p12|pfx|keystore|jks|kdbx|tfstate)`,
    // Excludes `.key` and `.a.key`: those are paths into JSON.
    String.raw`[^/.][^/]*\.key`,
    String.raw`\.?(?:git-)?credentials(?:\.[a-z]+)?`,
    String.raw`(?:service[-_]?account|client_secret|application_default_credentials)[^/]*\.json`,
    String.raw`\.(?:npmrc|netrc|pypirc|pgpass|htpasswd|vault-token|my\.cnf|s3cfg|boto)`,
    "_netrc",
    String.raw`\.docker/config\.json`,
    String.raw`\.kube/config`,
    String.raw`\.?config/gh/hosts\.ya?ml`,
    String.raw`secrets?\.(?:json|ya?ml|toml|env)`,
    "etc/shadow-?",
    "proc/[^/]+/environ",
  ].join("|")})$`,
  "i",
);
const SECRET_FOLDER = /(?:^|\/)\.(?:ssh|aws|gnupg|azure|config\/gcloud)(?:\/|$)/i;

export function isSecretPath(path: string): boolean {
  return SECRET.test(path) || SECRET_FOLDER.test(path);
}
