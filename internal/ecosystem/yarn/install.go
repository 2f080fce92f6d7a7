package yarn

import (
	"path"
	"strconv"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/node"
	"company/internal/lazyregexp"
)

// program is the client: the last of its line. SKIP_YARN_COREPACK_CHECK keeps it from
// refusing a project that names another version of it.
var program = node.Program{
	Name: "yarn", Package: "yarn", Version: "1.22.22", Digest: "sha512-prL3kGtyG7o9Z9Sv8IPfBNrWTDmXB4Qbes8A9rEzt6wkJV8mUvoirjU0Mp3GGAU06Y0XQyA3/2/RQFVuK7MTfg==",
	Commands: map[string]string{"yarn": "bin/yarn.js", "yarnpkg": "bin/yarn.js"},
	Env:      map[string]string{"SKIP_YARN_COREPACK_CHECK": "1"},
}

// fields of a package.json that yarn's lock file depends on, beside npm's.
var fields = []string{"private", "resolutions", "flat"}

// says is how yarn fails. It words its requests' failures as HTTP does.
var says = ecosystem.Words{
	Permanent: []string{
		"error Your lockfile needs to be updated", "error SyntaxError: Unknown token", "error Couldn't find any versions for", "error Couldn't find package", "error Integrity check failed",
		"error Invalid value type", "error Received invalid package name", `Request failed "403 Forbidden"`, `Request failed "404 Not Found"`, ": Not found", "the registry does not have it",
	},
	Remedies: []ecosystem.Remedy{
		{Says: "error Your lockfile needs to be updated", Fix: "run `yarn install` in your checkout and commit yarn.lock"},
		{Says: "error SyntaxError: Unknown token", Fix: "mend yarn.lock, which yarn cannot read, or make it anew: remove it, run `yarn install` and commit it"},
		{Says: "error Couldn't find any versions for", Fix: "run `yarn install` in your checkout, which makes a lock file that fits, or says which version there is not; commit both files"},
		{Says: "error Couldn't find package", Fix: "mend the name in package.json, run `yarn install` and commit both files"},
	},
	Telling: []string{"error Your lockfile", "error Couldn't", "error SyntaxError", "error Integrity", "error An unexpected error occurred:", "error Error:", "error "},
}

// Installs are two layers: the client, and what yarn.lock files name.
func (Ecosystem) Installs(s ecosystem.Sources) ([]ecosystem.Install, error) {
	manifests, texts, later, err := claimManifests(s)
	if err != nil || later && len(manifests) == 0 { // the other yarn is meant
		return nil, err
	}
	out, locked := []ecosystem.Install{program.Layer(s)}, newLocked(s)
	dirs := locked.FindLocked(s, manifests, texts)
	if len(dirs) == 0 {
		return out, nil
	}
	packages, err := locked.PackagesLayer(s, dirs, manifests, texts)
	return append(out, packages), err
}

// Resolutions are runs of yarn for the manifests that no lock file is for.
func (Ecosystem) Resolutions(s ecosystem.Sources) ([]ecosystem.Resolution, error) {
	manifests, texts, _, err := claimManifests(s)
	if err != nil {
		return nil, err
	}
	return newLocked(s).Resolutions(s, manifests, texts, program.Layer(s))
}

// Relocks reports whether a file is yarn's lock file.
func (Ecosystem) Relocks(name string) bool { return name == LockFile }

// Relock is a run of yarn for a lock file of a merge.
func (Ecosystem) Relock(s ecosystem.Sources, lock string) (r ecosystem.Resolution, ok bool, err error) {
	manifests, _, _, err := claimManifests(s)
	if err != nil {
		return r, false, err
	}
	return newLocked(s).Relock(s, manifests, lock, program.Layer(s))
}

// claimManifests claims the manifests of yarn 1; later: there are packages of a later yarn.
func claimManifests(s ecosystem.Sources) (manifests []string, texts map[string][]byte, later bool, err error) {
	owns, isLater := OwnsManifest(s, false), OwnsManifest(s, true)
	manifests, texts, err = node.ClaimManifests(s, func(dir, packageManager, root string) bool {
		later = later || isLater(dir, packageManager, root)
		return owns(dir, packageManager, root)
	}, fields...)
	return manifests, texts, later, err
}

// newLocked is an installation by yarn, which makes a lock file only when it installs.
func newLocked(s ecosystem.Sources) node.Locked {
	const flags = " --ignore-scripts --ignore-engines --non-interactive --no-progress"
	return node.Locked{
		Client: "yarn", LockFile: LockFile, Layer: "yarndeps", Folder: "yarn", Says: says, Read: readProject, Locker: Ecosystem{}, Env: clientEnv(s.Places()),
		Command: "yarn install --frozen-lockfile" + flags, LockCommand: "yarn install" + flags, ToLock: "yarn install",
		Fix: "check that `yarn install --frozen-lockfile --ignore-scripts` works in your checkout with yarn " + program.Version +
			" and `yarn config get registry` answers; or go on without them, with container.deps: off: what needs them stays red",
	}
}

// readProject reads what yarn is shown beside manifests. Settings of a project name
// registries, credentials and scripts: none is shown.
func readProject(s ecosystem.Sources, dir string) (map[string][]byte, []byte, error) {
	name := path.Join(dir, LockFile)
	if !s.HasFile(name) {
		return map[string][]byte{}, nil, nil
	}
	lock, err := ecosystem.ReadText(s, name)
	return map[string][]byte{name: redirectLock(lock, s.Places().Registry)}, lock, err
}

var resolvedRE = lazyregexp.New(`^  resolved "(https?://[^"#]*)(#[^"]*)?"`)

// redirectLock is a lock file whose tarballs of registries lie at the mirror: yarn asks
// where the file says, whatever its settings are. The digests stay.
func redirectLock(text []byte, registry string) []byte {
	var out strings.Builder
	name, version := "", ""
	for line := range strings.Lines(string(text)) {
		if m := headRE.FindStringSubmatch(line); m != nil && line[0] != ' ' {
			version = ""
			if name = m[1]; m[2] != "" {
				name = m[2]
			}
		}
		if m := versionRE.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
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

// clientEnv makes yarn ask the mirrors and keep its files apart.
func clientEnv(p ecosystem.Places) map[string]string {
	return map[string]string{
		"CI": "true", "YARN_REGISTRY": p.Registry + "/npm/", "npm_config_registry": p.Registry + "/npm/", "npm_config_userconfig": "/tmp/npmrc", "YARN_CACHE_FOLDER": "/tmp/yarn",
		"YARN_DISABLE_SELF_UPDATE_CHECK": "true", "YARN_NETWORK_TIMEOUT": strconv.Itoa(ecosystem.ClientPatience * 1000),
	}
}
