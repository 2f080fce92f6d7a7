package pnpm

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/node"
)

// The client, as npm's registry has it: the newest that runs on Node 18. It has no
// dependencies.
const (
	clientVersion = "10.34.8"
	clientDigest  = "sha512-9ieo6XE0Ov5J39D2PQKCNCAd+oMdXLWIcz4eX42ya/FpiaMhYatcG02zsf28NzFgYGtbieAC323RmoWt+R/FqA=="
)

// fields of a package.json that pnpm's lock file depends on, beside npm's.
var fields = []string{"pnpm", "dependenciesMeta", "publishConfig"}

// settings of a project's .npmrc change what an installation is. The rest names
// registries, credentials and scripts.
var settings = []string{
	"node-linker", "hoist", "hoist-pattern", "public-hoist-pattern", "shamefully-hoist", "auto-install-peers", "strict-peer-dependencies", "dedupe-peer-dependents",
	"exclude-links-from-lockfile", "link-workspace-packages", "prefer-workspace-packages", "inject-workspace-packages", "shared-workspace-lockfile", "resolution-mode",
}

// sections of pnpm-workspace.yaml, likewise.
var sections = []string{
	"packages", "catalog", "catalogs", "overrides", "packageExtensions", "peerDependencyRules", "patchedDependencies", "ignoredOptionalDependencies", "supportedArchitectures",
	"allowUnusedPatches", "nodeLinker", "hoist", "hoistPattern", "publicHoistPattern", "shamefullyHoist", "autoInstallPeers", "strictPeerDependencies", "dedupePeerDependents",
	"excludeLinksFromLockfile", "linkWorkspacePackages", "preferWorkspacePackages", "injectWorkspacePackages", "sharedWorkspaceLockfile", "resolutionMode",
}

// permanent are codes of pnpm for faults of the files themselves.
var permanent = []string{
	"ERR_PNPM_OUTDATED_LOCKFILE", "ERR_PNPM_NO_LOCKFILE", "ERR_PNPM_BROKEN_LOCKFILE", "ERR_PNPM_LOCKFILE_CONFIG_MISMATCH", "ERR_PNPM_LOCKFILE_BREAKING_CHANGE", "ERR_PNPM_FETCH_403",
	"ERR_PNPM_FETCH_404", "ERR_PNPM_TARBALL_INTEGRITY", "ERR_PNPM_NO_MATCHING_VERSION", "ERR_PNPM_UNSUPPORTED_ENGINE", "ERR_PNPM_BAD_PACKAGE_JSON", "ERR_PNPM_JSON_PARSE", "ERR_PNPM_WORKSPACE_PKG_NOT_FOUND",
}

// imageEnv keeps pnpm from fetching the version of itself that a manifest names:
// it leaves that to Corepack where Corepack has started it, in scripts as well,
// to which no setting is handed on. And it keeps pnpm from asking a person before
// it makes a node_modules anew.
var imageEnv = map[string]string{"COREPACK_ROOT": "/" + clientPath, "npm_config_confirm_modules_purge": "false"}

// Installs are two layers: the client, and what pnpm-lock.yaml files name.
func (Ecosystem) Installs(s ecosystem.Sources) ([]ecosystem.Install, error) {
	manifests := node.Manifests(s)
	texts, err := s.ReadTexts(manifests)
	if err != nil {
		return nil, err
	}
	root := managerOf(texts["package.json"])
	manifests = slices.DeleteFunc(manifests, func(m string) bool {
		return !ownsManifest(s.HasFile, path.Dir(m), managerOf(texts[m]), root)
	})
	for _, m := range manifests {
		s.Claim(m)
		texts[m] = node.ReduceManifest(texts[m], fields...)
	}
	out := []ecosystem.Install{clientLayer(s)}
	var dirs []string
	for _, m := range manifests {
		if dir := path.Dir(m); s.HasFile(path.Join(dir, lockFile)) {
			dirs = append(dirs, dir)
		}
	}
	dirs = ecosystem.LimitProjects(s, dirs, "pnpm lock files are installed")
	noteUnlocked(s, manifests, texts, dirs)
	if len(dirs) == 0 {
		return out, nil
	}
	packages, err := packagesLayer(s, dirs, manifests, texts)
	return append(out, packages), err
}

// clientLayer is pnpm itself, fetched by npm and held against its digest.
func clientLayer(s ecosystem.Sources) ecosystem.Install {
	manifest := fmt.Appendf(nil, `{"name":"client","version":"1.0.0","dependencies":{"pnpm":%q}}`, clientVersion)
	lock := fmt.Appendf(nil, `{"name":"client","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"client","version":"1.0.0","dependencies":{"pnpm":%[1]q}},`+
		`"node_modules/pnpm":{"version":%[1]q,"resolved":"https://registry.npmjs.org/pnpm/-/pnpm-%[1]s.tgz","integrity":%[2]q}}}`, clientVersion, clientDigest)
	return ecosystem.Install{
		Layer: "pnpm", Why: "pnpm " + clientVersion, What: "pnpm", Registry: ecosystem.NPM, Remote: true, Own: true,
		Locks: map[string][]byte{"package-lock.json": lock}, Inputs: []string{s.HashText(clientVersion), s.HashText(clientDigest)}, Says: node.Says,
		Stage: []ecosystem.StagedFile{{Path: "package.json", Text: manifest}, {Path: "package-lock.json", Text: lock}},
		Steps: []ecosystem.Step{{
			Dir: ".", Command: "npm ci --ignore-scripts", Env: node.ClientEnv(s.Places()), Progress: "fetching pnpm " + clientVersion, Failure: "pnpm " + clientVersion + " cannot be fetched",
			Fix: "check that `npm view pnpm@" + clientVersion + "` answers; or go on without dependencies, with container.deps: off",
		}},
		Collector: func() ecosystem.Collector { return clientCollector{} },
		Env:       ecosystem.Env{Set: imageEnv},
	}
}

// Where pnpm lies in an image, beside npm.
const clientPath = "usr/local/lib/node_modules/pnpm"

type clientCollector struct{}

func (clientCollector) Place(e ecosystem.Entry) (ecosystem.Entry, bool) {
	below, ok := strings.CutPrefix(e.Path+"/", "node_modules/pnpm/")
	return ecosystem.Entry{Path: path.Join(clientPath, below)}, ok && e.Link == ""
}

func (clientCollector) Files() []ecosystem.ImageFile {
	return []ecosystem.ImageFile{{Path: "usr/local/bin/pnpm", Link: "/" + clientPath + "/bin/pnpm.cjs"}, {Path: "usr/local/bin/pnpx", Link: "/" + clientPath + "/bin/pnpx.cjs"}}
}

// packagesLayer is what the lock files of these folders name.
func packagesLayer(s ecosystem.Sources, dirs, manifests []string, texts map[string][]byte) (ecosystem.Install, error) {
	in := ecosystem.Install{
		Layer: "pnpmdeps", What: ecosystem.LockPaths(dirs, lockFile), Registry: ecosystem.NPM, Remote: true, Locks: map[string][]byte{}, Says: ecosystem.Words{Permanent: permanent},
		Collector: func() ecosystem.Collector { return node.NewCollector(s.Places(), "pnpm") },
	}
	in.Why = "the packages of " + in.What
	stage := node.NewStage(s)
	for _, dir := range dirs {
		files, err := readProject(s, dir)
		if err != nil {
			return in, err
		}
		lock := path.Join(dir, lockFile)
		in.Locks[lock] = files[lock]
		for _, m := range manifests {
			if ecosystem.IsWithin(path.Dir(m), dir) {
				files[m] = texts[m]
			}
		}
		stage.Add(files)
		name := ecosystem.LockPaths([]string{dir}, lockFile)
		in.Steps = append(in.Steps, ecosystem.Step{
			Dir: dir, Command: "pnpm install --frozen-lockfile --ignore-scripts --ignore-pnpmfile", Env: clientEnv(s.Places()), Progress: "installing the pnpm packages of " + name,
			Failure: "the pnpm packages of " + name + " cannot be installed",
			Fix: "check that `pnpm install --frozen-lockfile --ignore-scripts` works in your checkout with pnpm " + clientVersion +
				" and `pnpm config get registry` answers; or go on without them, with container.deps: off: what needs them stays red",
		})
	}
	in.Stage, in.Inputs = stage.Files(), stage.Inputs()
	return in, nil
}

// readProject reads what pnpm is shown beside manifests: lock file, settings, and
// the patches that they name.
func readProject(s ecosystem.Sources, dir string) (map[string][]byte, error) {
	lock, workspace, rc := path.Join(dir, lockFile), path.Join(dir, workspaceFile), path.Join(dir, ".npmrc")
	wanted := []string{lock}
	for _, f := range []string{workspace, rc} {
		if s.HasFile(f) {
			wanted = append(wanted, f)
		}
	}
	files, err := s.ReadTexts(wanted)
	if err != nil {
		return nil, err
	}
	if text, ok := files[workspace]; ok {
		files[workspace] = filterSections(text)
	}
	if text, ok := files[rc]; ok {
		files[rc] = node.FilterSettings(text, settings)
	}
	patches, err := s.ReadTexts(patchesOf(s, dir, files[lock]))
	maps.Copy(files, patches)
	return files, err
}

// patchesOf are the patches of packages that a lock file names and that the tree
// has.
func patchesOf(s ecosystem.Sources, dir string, lock []byte) (out []string) {
	for line := range strings.Lines(string(lock)) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "path: ")
		if name = strings.Trim(name, `'"`); !ok || path.Ext(name) != ".patch" || !filepath.IsLocal(name) {
			continue
		}
		if name = path.Join(dir, name); s.HasFile(name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// filterSections keeps the sections of pnpm-workspace.yaml that count. A section
// begins with a key at the start of a line; other forms are left
// out.
func filterSections(text []byte) []byte {
	var out strings.Builder
	keep := false
	for line := range strings.Lines(string(text)) {
		if first := strings.TrimRight(line, "\r\n"); first != "" && !strings.HasPrefix(first, " ") && !strings.HasPrefix(first, "#") && !strings.HasPrefix(first, "- ") {
			key, _, isKey := strings.Cut(first, ":")
			keep = isKey && slices.Contains(sections, strings.Trim(key, `'"`))
		}
		if keep {
			out.WriteString(line)
		}
	}
	return []byte(out.String())
}

// clientEnv makes pnpm ask the mirrors, run nothing and copy out of its store:
// links do not travel into a layer. What it installs lies in a folder of another
// name than .pnpm, which stays free for the pnpm of a worker: that one takes the
// packages of the image for linked ones, and adds its own beside them.
func clientEnv(p ecosystem.Places) map[string]string {
	return map[string]string{
		"CI": "true", "npm_config_registry": p.Registry + "/npm/", "npm_config_userconfig": "/tmp/npmrc", "npm_config_store_dir": "/tmp/pnpm/store", "npm_config_cache_dir": "/tmp/pnpm/cache",
		"npm_config_state_dir": "/tmp/pnpm/state", "npm_config_package_import_method": "copy", "npm_config_virtual_store_dir": "node_modules/.prepared", "npm_config_extend_node_path": "false", "npm_config_fetch_retries": "1",
		"npm_config_update_notifier": "false", "npm_config_reporter": "append-only",
	}
}

// noteUnlocked notes manifests that ask for packages without a lock file.
func noteUnlocked(s ecosystem.Sources, manifests []string, texts map[string][]byte, dirs []string) {
	for _, m := range manifests {
		isLocked := slices.ContainsFunc(dirs, func(d string) bool { return ecosystem.IsWithin(path.Dir(m), d) })
		if !isLocked && node.NamesPackages(texts[m]) {
			s.AddNote("%s has no lock file: nothing is installed (make one with `pnpm install --lockfile-only`)", m)
			return // one is enough to say it
		}
	}
}
