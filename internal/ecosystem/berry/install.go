package berry

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/node"
	"company/internal/ecosystem/yarn"
	"company/internal/lib/lazyregexp"
)

// clients lists the last client for each format of lock files. A lock file of another format is regenerated in the
// client's format, with the same versions.
var clients = []struct {
	format          int // the newest format of lock files; includes earlier ones without a client of their own
	version, digest string
}{
	{7, "3.8.7", "sha512-YMoAlLR9f+kxXjK72ggBIidi3ulQQrQpMSxzrLUt0OUk9Xdst2v26LBSYFlzOm+7KRNWgYIJpFjA8uRnCgB5xQ=="},
	{8, "4.12.0", "sha512-r0AVfpKUXIbgajKFY0wWMZLwZou+CJmtqt+Y5LTimbPaA78srI0SnLJIS4ikPE1mv8YTPQ7mqRUdoDB7W+kDDA=="},
	{10, "4.18.1", "sha512-EH+A4TxAtBWXKE0DGQxW9Bo9crXHLJ73mfxjTQJuv8XonNWWTpei8BQ5JjczHJNU9GROTycwMFn8iOvRIZXUcA=="},
}

var formatRE = lazyregexp.New(`(?m)^__metadata:\r?\n  version: "?(\d{1,3})"?\r?$`)

// readFormat returns the format of a lock file, or 0 if it is unknown.
func readFormat(lock []byte) int {
	m := formatRE.FindSubmatch(lock)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}

// chooseClient returns the client for a format of lock files. If the format is 0, it uses the version that the
// manifest names.
func chooseClient(format int, packageManager string) node.Program {
	chosen := clients[len(clients)-1]
	for _, c := range slices.Backward(clients) {
		if 0 < format && format <= c.format {
			chosen = c
		}
	}
	if _, version, _ := strings.Cut(packageManager, "@"); format == 0 &&
		(strings.HasPrefix(version, "2.") || strings.HasPrefix(version, "3.")) {
		chosen = clients[0]
	}
	return node.Program{
		Name: "berry", Package: "@yarnpkg/cli-dist", Version: chosen.version, Digest: chosen.digest,
		Commands: map[string]string{"yarn": "bin/yarn.js", "yarnpkg": "bin/yarn.js"},
		Env:      map[string]string{"YARN_ENABLE_TELEMETRY": "0", "YARN_NODE_LINKER": "node-modules"},
	}
}

// fields are fields of package.json that influence yarn's lock file, in addition to npm's.
var fields = []string{"private", "resolutions", "dependenciesMeta", "installConfig", "preferUnplugged"}

// sections are the settings in .yarnrc.yml that influence an installation. The other settings name registries,
// credentials, plugins and another yarn.
var sections = []string{
	"packageExtensions", "supportedArchitectures", "catalog", "catalogs", "nmHoistingLimits", "nmMode", "nmSelfReferences",
	"defaultProtocol", "compressionLevel",
	"enableTransparentWorkspaces", "virtualFolder", "ignoreDefaultPeerDependencies",
}

// says describes yarn's error messages.
var says = ecosystem.Words{
	Permanent: []string{
		"YN0028", "YN0018", "YN0082", "YAMLException", "Usage Error", "Response Code: 403", "Response Code: 404",
		"Response Code: 410", "Workspace not found", "doesn't satisfy", "Invalid package manifest",
	},
	Remedies: []ecosystem.Remedy{
		{Says: "YN0028", Fix: "run `yarn install` in your checkout and commit yarn.lock"},
		{Says: "YN0018", Fix: "the registry has another file than yarn.lock says: find out why, then run `yarn install` " +
			"and commit yarn.lock"},
		{Says: "YN0082", Fix: "run `yarn install` in your checkout, which makes a lock file that fits, or says which " +
			"version there is not; commit both files"},
	},
	Telling: []string{"➤ YN0028: │ The lockfile", "➤ YN0018", "➤ YN0082", "➤ YN0035", "➤ YN0001", "Usage Error",
		"YAMLException"},
}

// Installs returns two layers: the client, and the packages of yarn.lock files. Packages that are in the tree itself
// need no layer.
func (Ecosystem) Installs(sources ecosystem.Sources) ([]ecosystem.Install, error) {
	manifests, texts, client, err := claimManifests(sources)
	if err != nil || len(manifests) == 0 {
		return nil, err
	}
	if bringsPackages(sources.HasFile, path.Dir(manifests[0])) {
		delete(client.Env, "YARN_NODE_LINKER")
		return []ecosystem.Install{client.Layer(sources)}, nil
	}
	out, locked := []ecosystem.Install{client.Layer(sources)}, newLocked(sources, client)
	dirs := locked.FindLocked(sources, manifests, texts)
	if len(dirs) == 0 {
		return out, nil
	}
	packages, err := locked.PackagesLayer(sources, dirs, manifests, texts)
	return append(out, packages), err
}

// Resolutions returns runs of yarn for the manifests without a lock file.
func (Ecosystem) Resolutions(sources ecosystem.Sources) ([]ecosystem.Resolution, error) {
	manifests, texts, client, err := claimManifests(sources)
	if err != nil || len(manifests) == 0 || bringsPackages(sources.HasFile, path.Dir(manifests[0])) {
		return nil, err
	}
	return newLocked(sources, client).Resolutions(sources, manifests, texts, client.Layer(sources))
}

// Relocks reports whether a file is yarn's lock file.
func (Ecosystem) Relocks(name string) bool { return name == yarn.LockFile }

// Relock returns a run of yarn for a lock file of a merge.
func (Ecosystem) Relock(sources ecosystem.Sources, lock string) (resolution ecosystem.Resolution, ok bool, err error) {
	manifests, _, client, err := claimManifests(sources)
	if err != nil || len(manifests) == 0 || bringsPackages(sources.HasFile, path.Dir(manifests[0])) {
		return resolution, false, err
	}
	return newLocked(sources, client).Relock(sources, manifests, lock, client.Layer(sources))
}

// claimManifests claims the manifests that use yarn 2 or later, and chooses the client by the lock file nearest to
// the root. That client reads all other lock files, too.
func claimManifests(
	sources ecosystem.Sources,
) (manifests []string, texts map[string][]byte, client node.Program, err error) {
	named, format := "", 0
	owns := yarn.OwnsManifest(sources, true)
	manifests, texts, err = node.ClaimManifests(sources, func(dir, packageManager, root string) bool {
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
		if !sources.HasFile(lock) {
			continue
		}
		text, err := ecosystem.ReadText(sources, lock)
		if err != nil {
			return nil, nil, client, err
		}
		format = readFormat(text)
		break
	}
	return manifests, texts, chooseClient(format, named), nil
}

// newLocked returns an installation by yarn. It does not pass --immutable, because yarn's built-in patches differ
// between versions, and lock files with them. The mirror serves only packages in the lock file, so any other package
// is refused there.
func newLocked(sources ecosystem.Sources, client node.Program) node.Locked {
	return node.Locked{
		Client: "yarn", LockFile: yarn.LockFile, Layer: "berrydeps", Folder: "berry", Says: says, Read: readProject,
		Locker: Ecosystem{}, Redirect: redirectLock, Env: clientEnv(sources.Places()),
		Command: "yarn install", LockCommand: "yarn install --mode=update-lockfile", ToLock: "yarn install",
		Fix: "check that `yarn install --immutable` works in your checkout with yarn " + client.Version +
			" and `yarn config get npmRegistryServer` answers; or go on without them, with container.deps: off: what needs " +
			"them stays red",
	}
}

// addressRE matches a package whose file has a separate address, as in GitHub's registry.
var addressRE = lazyregexp.New(`(?m)^(  resolution: "(?:@[^@/"]+/)?[^@/"]+@npm:[^":]+)::__archiveUrl=[^"]*"`)

// redirectLock removes these addresses, because yarn uses them regardless of its settings. The digests stay.
func redirectLock(text []byte) []byte { return addressRE.ReplaceAll(text, []byte(`$1"`)) }

// readProject reads the files that yarn needs in addition to manifests: the lock file, settings and the patches of
// packages.
func readProject(sources ecosystem.Sources, dir string) (map[string][]byte, []byte, error) {
	lock, rc := path.Join(dir, yarn.LockFile), path.Join(dir, ".yarnrc.yml")
	var wanted []string
	for _, f := range []string{lock, rc} {
		if sources.HasFile(f) {
			wanted = append(wanted, f)
		}
	}
	for _, f := range ecosystem.SelectBelow(sources.Files(), path.Join(dir, ".yarn/patches")) {
		if strings.HasSuffix(f, ".patch") && ecosystem.IsPlainPath(f) {
			wanted = append(wanted, f)
		}
	}
	files, err := sources.ReadTexts(wanted)
	if err != nil {
		return nil, nil, err
	}
	if text, ok := files[rc]; ok {
		files[rc] = node.FilterSections(text, sections)
	}
	text := files[lock]
	if text == nil { // an empty lock file makes the folder the root of a project
		files[lock] = []byte{}
	}
	return files, text, nil
}

// clientEnv makes yarn use the mirrors, run no scripts, and install into node_modules. Packages in archives could not
// be linked into a tree.
func clientEnv(places ecosystem.Places) map[string]string {
	return map[string]string{
		"YARN_NPM_REGISTRY_SERVER": places.Registry + "/npm", "YARN_UNSAFE_HTTP_WHITELIST": "127.0.0.1",
		"YARN_NODE_LINKER": "node-modules", "YARN_ENABLE_SCRIPTS": "0", "YARN_IGNORE_PATH": "1",
		"YARN_ENABLE_TELEMETRY": "0", "YARN_GLOBAL_FOLDER": "/tmp/yarn", "YARN_ENABLE_GLOBAL_CACHE": "1",
		"YARN_ENABLE_IMMUTABLE_INSTALLS": "0", "YARN_HTTP_RETRY": "0",
		"YARN_HTTP_TIMEOUT":         strconv.Itoa(ecosystem.ClientPatience * 1000),
		"YARN_ENABLE_PROGRESS_BARS": "0", "YARN_ENABLE_COLORS": "0", "YARN_ENABLE_HYPERLINKS": "0",
		"YARN_ENABLE_INLINE_BUILDS": "0",
	}
}
