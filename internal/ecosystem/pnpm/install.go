package pnpm

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
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
var imageEnv = map[string]string{"COREPACK_ROOT": "/usr/local/lib/node_modules/pnpm", "npm_config_confirm_modules_purge": "false"}

// program is the client, as npm's registry has it.
var program = node.Program{
	Name: "pnpm", Package: "pnpm", Version: clientVersion, Digest: clientDigest, Env: imageEnv,
	Commands: map[string]string{"pnpm": "bin/pnpm.cjs", "pnpx": "bin/pnpx.cjs"},
}

// Installs are two layers: the client, and what pnpm-lock.yaml files name.
func (Ecosystem) Installs(s ecosystem.Sources) ([]ecosystem.Install, error) {
	manifests, texts, err := claimManifests(s)
	if err != nil {
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

// Resolutions are runs of pnpm for the manifests that no lock file is for.
func (Ecosystem) Resolutions(s ecosystem.Sources) ([]ecosystem.Resolution, error) {
	manifests, texts, err := claimManifests(s)
	if err != nil {
		return nil, err
	}
	return newLocked(s).Resolutions(s, manifests, texts, program.Layer(s))
}

// Relocks reports whether a file is pnpm's lock file.
func (Ecosystem) Relocks(name string) bool { return name == lockFile }

// Relock is a run of pnpm for a lock file of a merge.
func (Ecosystem) Relock(s ecosystem.Sources, lock string) (r ecosystem.Resolution, ok bool, err error) {
	manifests, _, err := claimManifests(s)
	if err != nil {
		return r, false, err
	}
	return newLocked(s).Relock(s, manifests, lock, program.Layer(s))
}

func claimManifests(s ecosystem.Sources) (manifests []string, texts map[string][]byte, err error) {
	return node.ClaimManifests(s, func(dir, packageManager, root string) bool {
		return node.FindClient(s.HasFile, dir, packageManager, root) == "pnpm"
	}, fields...)
}

// remedies of pnpm's messages.
var remedies = []ecosystem.Remedy{
	{Says: "ERR_PNPM_OUTDATED_LOCKFILE", Fix: "run `pnpm install --lockfile-only` in your checkout and commit pnpm-lock.yaml"},
	{Says: "ERR_PNPM_LOCKFILE_CONFIG_MISMATCH", Fix: "run `pnpm install --lockfile-only` in your checkout and commit pnpm-lock.yaml"},
	{Says: "ERR_PNPM_NO_MATCHING_VERSION", Fix: "run `pnpm install --lockfile-only` in your checkout, which makes a lock file that fits, or says which version there is not; commit both files"},
	{Says: "ERR_PNPM_FETCH_404", Fix: "see with `pnpm view` whether your registry has what is named here; mend its name or version in package.json, run `pnpm install --lockfile-only` and commit both files"},
}

func newLocked(s ecosystem.Sources) node.Locked {
	return node.Locked{
		Client: "pnpm", LockFile: lockFile, Layer: "pnpmdeps", Folder: "pnpm", Says: ecosystem.Words{Permanent: permanent, Telling: []string{"ERR_PNPM_", "FetchError: "}, Remedies: remedies}, Read: readProject, Locker: Ecosystem{}, Redirect: redirectLock,
		Command: "pnpm install --frozen-lockfile --ignore-scripts --ignore-pnpmfile", Env: clientEnv(s.Places()),
		LockCommand: "pnpm install --lockfile-only --no-frozen-lockfile --ignore-scripts --ignore-pnpmfile", ToLock: "pnpm install --lockfile-only",
		Fix: "check that `pnpm install --frozen-lockfile --ignore-scripts` works in your checkout with pnpm " + clientVersion +
			" and `pnpm config get registry` answers; or go on without them, with container.deps: off: what needs them stays red",
		Covers: func(s ecosystem.Sources, top, dir string) bool {
			return top != dir && ecosystem.IsWithin(dir, top) && s.HasFile(path.Join(top, workspaceFile))
		},
	}
}

// readProject reads what pnpm is shown beside manifests: lock file, settings, and
// the patches that they name.
func readProject(s ecosystem.Sources, dir string) (map[string][]byte, []byte, error) {
	lock, workspace, rc := path.Join(dir, lockFile), path.Join(dir, workspaceFile), path.Join(dir, ".npmrc")
	var wanted []string
	for _, f := range []string{lock, workspace, rc} {
		if s.HasFile(f) {
			wanted = append(wanted, f)
		}
	}
	files, err := s.ReadTexts(wanted)
	if err != nil {
		return nil, nil, err
	}
	if text, ok := files[workspace]; ok {
		files[workspace] = node.FilterSections(text, sections)
	}
	if text, ok := files[rc]; ok {
		files[rc] = node.FilterSettings(text, settings)
	}
	patches, err := s.ReadTexts(patchesOf(s, dir, files[lock]))
	maps.Copy(files, patches)
	return files, files[lock], err
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

// clientEnv makes pnpm ask the mirrors, run nothing and copy out of its store:
// links do not travel into a layer. What it installs lies in a folder of another
// name than .pnpm, which stays free for the pnpm of a worker: that one takes the
// packages of the image for linked ones, and adds its own beside them.
func clientEnv(p ecosystem.Places) map[string]string {
	return map[string]string{
		"CI": "true", "npm_config_registry": p.Registry + "/npm/", "npm_config_userconfig": "/tmp/npmrc", "npm_config_store_dir": "/tmp/pnpm/store", "npm_config_cache_dir": "/tmp/pnpm/cache",
		"npm_config_state_dir": "/tmp/pnpm/state", "npm_config_package_import_method": "copy", "npm_config_virtual_store_dir": "node_modules/.prepared", "npm_config_extend_node_path": "false", "npm_config_fetch_retries": "0", "npm_config_fetch_timeout": strconv.Itoa(ecosystem.ClientPatience * 1000),
		"npm_config_update_notifier": "false", "npm_config_reporter": "append-only",
	}
}
