package berry

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/node"
	"company/internal/ecosystem/yarn"
	"company/internal/lazyregexp"
)

// clients are the last ones that write a format of lock files, which is theirs alone:
// a lock file of another format is made anew in theirs, with the versions that it has.
var clients = []struct {
	format          int // of lock files, and those before it that no other client is for
	version, digest string
}{
	{7, "3.8.7", "sha512-YMoAlLR9f+kxXjK72ggBIidi3ulQQrQpMSxzrLUt0OUk9Xdst2v26LBSYFlzOm+7KRNWgYIJpFjA8uRnCgB5xQ=="},
	{8, "4.12.0", "sha512-r0AVfpKUXIbgajKFY0wWMZLwZou+CJmtqt+Y5LTimbPaA78srI0SnLJIS4ikPE1mv8YTPQ7mqRUdoDB7W+kDDA=="},
	{10, "4.18.1", "sha512-EH+A4TxAtBWXKE0DGQxW9Bo9crXHLJ73mfxjTQJuv8XonNWWTpei8BQ5JjczHJNU9GROTycwMFn8iOvRIZXUcA=="},
}

var formatRE = lazyregexp.New(`(?m)^__metadata:\r?\n  version: "?(\d{1,3})"?\r?$`)

// readFormat is the format of a lock file; 0: not known.
func readFormat(lock []byte) int {
	m := formatRE.FindSubmatch(lock)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}

// chooseClient is the client for a format of lock files, or for the version that a
// manifest names where there is none.
func chooseClient(format int, packageManager string) node.Program {
	chosen := clients[len(clients)-1]
	for _, c := range slices.Backward(clients) {
		if 0 < format && format <= c.format {
			chosen = c
		}
	}
	if _, version, _ := strings.Cut(packageManager, "@"); format == 0 && (strings.HasPrefix(version, "2.") || strings.HasPrefix(version, "3.")) {
		chosen = clients[0]
	}
	return node.Program{
		Name: "berry", Package: "@yarnpkg/cli-dist", Version: chosen.version, Digest: chosen.digest,
		Commands: map[string]string{"yarn": "bin/yarn.js", "yarnpkg": "bin/yarn.js"},
		Env:      map[string]string{"YARN_ENABLE_TELEMETRY": "0", "YARN_NODE_LINKER": "node-modules"},
	}
}

// fields of a package.json that yarn's lock file depends on, beside npm's.
var fields = []string{"private", "resolutions", "dependenciesMeta", "installConfig", "preferUnplugged"}

// sections of .yarnrc.yml change what an installation is. The rest names registries,
// credentials, plugins and another yarn.
var sections = []string{
	"packageExtensions", "supportedArchitectures", "catalog", "catalogs", "nmHoistingLimits", "nmMode", "nmSelfReferences", "defaultProtocol", "compressionLevel",
	"enableTransparentWorkspaces", "virtualFolder", "ignoreDefaultPeerDependencies",
}

// says is how yarn fails.
var says = ecosystem.Words{
	Permanent: []string{
		"YN0028", "YN0018", "YN0082", "YAMLException", "Usage Error", "Response Code: 403", "Response Code: 404", "Response Code: 410", "Workspace not found", "doesn't satisfy", "Invalid package manifest",
	},
	Remedies: []ecosystem.Remedy{
		{Says: "YN0028", Fix: "run `yarn install` in your checkout and commit yarn.lock"},
		{Says: "YN0018", Fix: "the registry has another file than yarn.lock says: find out why, then run `yarn install` and commit yarn.lock"},
		{Says: "YN0082", Fix: "run `yarn install` in your checkout, which makes a lock file that fits, or says which version there is not; commit both files"},
	},
	Telling: []string{"➤ YN0028: │ The lockfile", "➤ YN0018", "➤ YN0082", "➤ YN0035", "➤ YN0001", "Usage Error", "YAMLException"},
}

// Installs are two layers: the client, and what yarn.lock files name. Packages that lie
// in the tree itself need no layer.
func (Ecosystem) Installs(s ecosystem.Sources) ([]ecosystem.Install, error) {
	manifests, texts, client, err := claimManifests(s)
	if err != nil || len(manifests) == 0 {
		return nil, err
	}
	if bringsPackages(s.HasFile, path.Dir(manifests[0])) {
		delete(client.Env, "YARN_NODE_LINKER")
		return []ecosystem.Install{client.Layer(s)}, nil
	}
	out, locked := []ecosystem.Install{client.Layer(s)}, newLocked(s, client)
	dirs := locked.FindLocked(s, manifests, texts)
	if len(dirs) == 0 {
		return out, nil
	}
	packages, err := locked.PackagesLayer(s, dirs, manifests, texts)
	return append(out, packages), err
}

// Resolutions are runs of yarn for the manifests that no lock file is for.
func (Ecosystem) Resolutions(s ecosystem.Sources) ([]ecosystem.Resolution, error) {
	manifests, texts, client, err := claimManifests(s)
	if err != nil || len(manifests) == 0 || bringsPackages(s.HasFile, path.Dir(manifests[0])) {
		return nil, err
	}
	return newLocked(s, client).Resolutions(s, manifests, texts, client.Layer(s))
}

// Relocks reports whether a file is yarn's lock file.
func (Ecosystem) Relocks(name string) bool { return name == yarn.LockFile }

// Relock is a run of yarn for a lock file of a merge.
func (Ecosystem) Relock(s ecosystem.Sources, lock string) (r ecosystem.Resolution, ok bool, err error) {
	manifests, _, client, err := claimManifests(s)
	if err != nil || len(manifests) == 0 || bringsPackages(s.HasFile, path.Dir(manifests[0])) {
		return r, false, err
	}
	return newLocked(s, client).Relock(s, manifests, lock, client.Layer(s))
}

// claimManifests claims the manifests of later yarns, and chooses the client: the lock file
// nearest to the root has its format, all other lock files are read by it.
func claimManifests(s ecosystem.Sources) (manifests []string, texts map[string][]byte, client node.Program, err error) {
	named, format := "", 0
	owns := yarn.OwnsManifest(s, true)
	manifests, texts, err = node.ClaimManifests(s, func(dir, packageManager, root string) bool {
		owned := owns(dir, packageManager, root)
		if owned && named == "" {
			named = packageManager
		}
		return owned
	}, fields...)
	if err != nil {
		return nil, nil, client, err
	}
	for _, m := range manifests {
		lock := path.Join(path.Dir(m), yarn.LockFile)
		if !s.HasFile(lock) {
			continue
		}
		text, err := ecosystem.ReadText(s, lock)
		if err != nil {
			return nil, nil, client, err
		}
		format = readFormat(text)
		break
	}
	return manifests, texts, chooseClient(format, named), nil
}

// newLocked is an installation by yarn. It is not told --immutable: patches that yarn
// has built in differ between its versions, and with them lock files. The mirror has
// only what the lock file names, so that another choice of packages is refused there.
func newLocked(s ecosystem.Sources, client node.Program) node.Locked {
	return node.Locked{
		Client: "yarn", LockFile: yarn.LockFile, Layer: "berrydeps", Folder: "berry", Says: says, Read: readProject, Locker: Ecosystem{}, Redirect: redirectLock, Env: clientEnv(s.Places()),
		Command: "yarn install", LockCommand: "yarn install --mode=update-lockfile", ToLock: "yarn install",
		Fix: "check that `yarn install --immutable` works in your checkout with yarn " + client.Version +
			" and `yarn config get npmRegistryServer` answers; or go on without them, with container.deps: off: what needs them stays red",
	}
}

// addressRE is a package of a registry whose file has an address of its own, as GitHub's
// registry gives them.
var addressRE = lazyregexp.New(`(?m)^(  resolution: "(?:@[^@/"]+/)?[^@/"]+@npm:[^":]+)::__archiveUrl=[^"]*"`)

// redirectLock takes these addresses out: yarn asks where they say, whatever its settings are.
// The digests stay.
func redirectLock(text []byte) []byte { return addressRE.ReplaceAll(text, []byte(`$1"`)) }

// readProject reads what yarn is shown beside manifests: lock file, settings, and the
// patches of packages.
func readProject(s ecosystem.Sources, dir string) (map[string][]byte, []byte, error) {
	lock, rc := path.Join(dir, yarn.LockFile), path.Join(dir, ".yarnrc.yml")
	var wanted []string
	for _, f := range []string{lock, rc} {
		if s.HasFile(f) {
			wanted = append(wanted, f)
		}
	}
	for _, f := range ecosystem.SelectBelow(s.Files(), path.Join(dir, ".yarn/patches")) {
		if strings.HasSuffix(f, ".patch") && ecosystem.IsPlainPath(f) {
			wanted = append(wanted, f)
		}
	}
	files, err := s.ReadTexts(wanted)
	if err != nil {
		return nil, nil, err
	}
	if text, ok := files[rc]; ok {
		files[rc] = node.FilterSections(text, sections)
	}
	text := files[lock]
	if text == nil { // it makes the folder the root of a project
		files[lock] = []byte{}
	}
	return files, text, nil
}

// clientEnv makes yarn ask the mirrors, run nothing, and install as other clients do:
// packages in archives could not be linked into a tree.
func clientEnv(p ecosystem.Places) map[string]string {
	return map[string]string{
		"YARN_NPM_REGISTRY_SERVER": p.Registry + "/npm", "YARN_UNSAFE_HTTP_WHITELIST": "127.0.0.1", "YARN_NODE_LINKER": "node-modules", "YARN_ENABLE_SCRIPTS": "0", "YARN_IGNORE_PATH": "1",
		"YARN_ENABLE_TELEMETRY": "0", "YARN_GLOBAL_FOLDER": "/tmp/yarn", "YARN_ENABLE_GLOBAL_CACHE": "1", "YARN_ENABLE_IMMUTABLE_INSTALLS": "0", "YARN_HTTP_RETRY": "0", "YARN_HTTP_TIMEOUT": strconv.Itoa(ecosystem.ClientPatience * 1000),
		"YARN_ENABLE_PROGRESS_BARS": "0", "YARN_ENABLE_COLORS": "0", "YARN_ENABLE_HYPERLINKS": "0", "YARN_ENABLE_INLINE_BUILDS": "0",
	}
}
