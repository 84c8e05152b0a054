/** Files that usually hold secrets, by their names: policy asks before they are read, searches pass them by. */
const SECRET =
  /(?:^|\/)(?:\.env(?:\.(?!example$|sample$|template$|dist$)[^/]*)?|\.envrc|id_(?:rsa|dsa|ecdsa|ed25519)(?:_[^/]*)?|[^/]*\.(?:pem|p12|pfx|keystore|jks|kdbx)|\.?(?:git-)?credentials(?:\.[a-z]+)?|\.npmrc|\.netrc|_netrc|\.pypirc|\.pgpass|\.htpasswd|\.docker\/config\.json|\.kube\/config|secrets?\.(?:json|ya?ml|toml|env)|etc\/shadow-?|proc\/[^/]+\/environ)$/i;
const SECRET_FOLDER = /(?:^|\/)\.(?:ssh|aws|gnupg)(?:\/|$)/i;

export function isSecretPath(path: string): boolean {
  return SECRET.test(path) || SECRET_FOLDER.test(path);
}
