package yarn

import (
	"path"
	"strconv"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/node"
	"company/internal/lib/lazyregexp"
)

// program is yarn 1.22.22, the last release of yarn 1. SKIP_YARN_COREPACK_CHECK lets it run in a project
// that names another version of yarn.
var program = node.Program{
	Name: "yarn", Package: "yarn", Version: "1.22.22",
	Digest:   "sha512-prL3kGtyG7o9Z9Sv8IPfBNrWTDmXB4Qbes8A9rEzt6wkJV8mUvoirjU0Mp3GGAU06Y0XQyA3/2/RQFVuK7MTfg==",
	Commands: map[string]string{"yarn": "bin/yarn.js", "yarnpkg": "bin/yarn.js"},
	Env:      map[string]string{"SKIP_YARN_COREPACK_CHECK": "1"},
}

// fields lists the fields of a package.json that yarn's lock file depends on, in addition to npm's.
var fields = []string{"private", "resolutions", "flat"}

// says describes yarn's errors. Yarn reports failed requests with the texts of HTTP.
var says = ecosystem.Words{
	Permanent: []string{
		"error Your lockfile needs to be updated", "error SyntaxError: Unknown token", "error Couldn't find any versions for",
		"error Couldn't find package", "error Integrity check failed",
		"error Invalid value type", "error Received invalid package name", `Request failed "403 Forbidden"`,
		`Request failed "404 Not Found"`, ": Not found", "the registry does not have it",
	},
	Remedies: []ecosystem.Remedy{
		{Says: "error Your lockfile needs to be updated", Fix: "run `yarn install` in your checkout and commit yarn.lock"},
		{Says: "error SyntaxError: Unknown token",
			Fix: "mend yarn.lock, which yarn cannot read, or regenerate it: remove it, run `yarn install` and commit it"},
		{Says: "error Couldn't find any versions for",
			Fix: "run `yarn install` in your checkout, which makes a lock file that fits, or says which version there is not; " +
				"commit both files"},
		{Says: "error Couldn't find package", Fix: "mend the name in package.json, run `yarn install` and commit both files"},
	},
	Telling: []string{"error Your lockfile", "error Couldn't", "error SyntaxError", "error Integrity",
		"error An unexpected error occurred:", "error Error:", "error "},
}

// Installs returns two layers: the client, and the packages that yarn.lock files name.
func (Ecosystem) Installs(sources ecosystem.Sources) ([]ecosystem.Install, error) {
	manifests, texts, later, err := claimManifests(sources)
	if err != nil || later && len(manifests) == 0 { // all packages are for a later yarn
		return nil, err
	}
	out, locked := []ecosystem.Install{program.Layer(sources)}, newLocked(sources)
	dirs := locked.FindLocked(sources, manifests, texts)
	if len(dirs) == 0 {
		return out, nil
	}
	packages, err := locked.PackagesLayer(sources, dirs, manifests, texts)
	return append(out, packages), err
}

// Resolutions returns a run of yarn for each manifest without a lock file.
func (Ecosystem) Resolutions(sources ecosystem.Sources) ([]ecosystem.Resolution, error) {
	manifests, texts, _, err := claimManifests(sources)
	if err != nil {
		return nil, err
	}
	return newLocked(sources).Resolutions(sources, manifests, texts, program.Layer(sources))
}

// Relocks reports whether a file is yarn's lock file.
func (Ecosystem) Relocks(name string) bool { return name == LockFile }

// Relock returns a run of yarn that updates a lock file after a merge.
func (Ecosystem) Relock(sources ecosystem.Sources, lock string) (resolution ecosystem.Resolution, ok bool, err error) {
	manifests, _, _, err := claimManifests(sources)
	if err != nil {
		return resolution, false, err
	}
	return newLocked(sources).Relock(sources, manifests, lock, program.Layer(sources))
}

// claimManifests returns the manifests of yarn 1. later means that there are also packages of a later yarn.
func claimManifests(sources ecosystem.Sources) (manifests []string, texts map[string][]byte, later bool, err error) {
	owns, isLater := OwnsManifest(sources, false), OwnsManifest(sources, true)
	manifests, texts, err = node.ClaimManifests(sources, func(dir, packageManager, root string) bool {
		later = later || isLater(dir, packageManager, root)
		return owns(dir, packageManager, root)
	}, fields...)
	return manifests, texts, later, err
}

// newLocked describes an installation by yarn 1. Yarn 1 can create a lock file only with an installation.
func newLocked(sources ecosystem.Sources) node.Locked {
	const flags = " --ignore-scripts --ignore-engines --non-interactive --no-progress"
	return node.Locked{
		Client: "yarn", LockFile: LockFile, Layer: "yarndeps", Folder: "yarn", Says: says, Read: readProject,
		Locker: Ecosystem{}, Env: clientEnv(sources.Places()),
		Command: "yarn install --frozen-lockfile" + flags, LockCommand: "yarn install" + flags, ToLock: "yarn install",
		Fix: "check that `yarn install --frozen-lockfile --ignore-scripts` works in your checkout with yarn " +
			program.Version +
			" and `yarn config get registry` answers; or go on without them, with container.deps: off: what needs them stays " +
			"red",
	}
}

// readProject reads the lock file, which yarn gets in addition to manifests. Yarn does not get the
// project's settings, since they name registries, credentials and scripts.
func readProject(sources ecosystem.Sources, dir string) (map[string][]byte, []byte, error) {
	name := path.Join(dir, LockFile)
	if !sources.HasFile(name) {
		return map[string][]byte{}, nil, nil
	}
	lock, err := ecosystem.ReadText(sources, name)
	return map[string][]byte{name: redirectLock(lock, sources.Places().Registry)}, lock, err
}

var (
	headLineRE    = lazyregexp.New(`^"?((?:@[^@/"]+/)?[^@/",\s]+)@(?:npm:(?:((?:@[^@/"]+/)?[^@/",\s]+)@)?)?[^:]*`)
	versionLineRE = lazyregexp.New(`^  version "([^"\s]+)"$`)
	resolvedRE    = lazyregexp.New(`^  resolved "(https?://[^"#]*)(#[^"]*)?"`)
)

// redirectLock returns a lock file whose registry tarballs have the mirror's address. Yarn uses the
// addresses in the file whatever its settings are. The digests do not change.
func redirectLock(text []byte, registry string) []byte {
	var out strings.Builder
	name, version := "", ""
	for line := range strings.Lines(string(text)) {
		if m := headLineRE.FindStringSubmatch(line); m != nil && line[0] != ' ' {
			version = ""
			if name = m[1]; m[2] != "" {
				name = m[2]
			}
		}
		if m := versionLineRE.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			version = m[1]
		}
		if m := resolvedRE.FindStringSubmatch(line); m != nil && name != "" {
			if file, ok := node.RegistryFile(m[1], name, version); ok {
				line = `  resolved "` + registry + "/npm/" + name + "/-/" + file + m[2] + "\"\n"
			}
		}
		out.WriteString(line)
	}
	return []byte(out.String())
}

// clientEnv returns variables that make yarn use the mirrors and keep its files separate.
func clientEnv(places ecosystem.Places) map[string]string {
	return map[string]string{
		"CI": "true", "YARN_REGISTRY": places.Registry + "/npm/", "npm_config_registry": places.Registry + "/npm/",
		"npm_config_userconfig": "/tmp/npmrc", "YARN_CACHE_FOLDER": "/tmp/yarn",
		"YARN_DISABLE_SELF_UPDATE_CHECK": "true", "YARN_NETWORK_TIMEOUT": strconv.Itoa(ecosystem.ClientPatience * 1000),
	}
}
