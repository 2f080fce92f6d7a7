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

// The client: the newest pnpm in npm's registry that runs on Node 18. It has no dependencies.
const (
	clientVersion = "10.34.8"
	clientDigest  = "sha512-9ieo6XE0Ov5J39D2PQKCNCAd+oMdXLWIcz4eX42ya/FpiaMhYatcG02zsf28NzFgYGtbieAC323RmoWt+R/FqA=="
)

// fields lists the fields of a package.json that pnpm's lock file depends on, in addition to npm's.
var fields = []string{"pnpm", "dependenciesMeta", "publishConfig"}

// settings lists the settings of a project's .npmrc that change an installation. Other settings name
// registries, credentials and scripts.
var settings = []string{
	"node-linker", "hoist", "hoist-pattern", "public-hoist-pattern", "shamefully-hoist", "auto-install-peers",
	"strict-peer-dependencies", "dedupe-peer-dependents",
	"exclude-links-from-lockfile", "link-workspace-packages", "prefer-workspace-packages", "inject-workspace-packages",
	"shared-workspace-lockfile", "resolution-mode",
}

// sections lists the sections of pnpm-workspace.yaml that change an installation.
var sections = []string{
	"packages", "catalog", "catalogs", "overrides", "packageExtensions", "peerDependencyRules", "patchedDependencies",
	"ignoredOptionalDependencies", "supportedArchitectures",
	"allowUnusedPatches", "nodeLinker", "hoist", "hoistPattern", "publicHoistPattern", "shamefullyHoist",
	"autoInstallPeers", "strictPeerDependencies", "dedupePeerDependents",
	"excludeLinksFromLockfile", "linkWorkspacePackages", "preferWorkspacePackages", "injectWorkspacePackages",
	"sharedWorkspaceLockfile", "resolutionMode",
}

// permanent lists pnpm's error codes for errors in the files themselves.
var permanent = []string{
	"ERR_PNPM_OUTDATED_LOCKFILE", "ERR_PNPM_NO_LOCKFILE", "ERR_PNPM_BROKEN_LOCKFILE", "ERR_PNPM_LOCKFILE_CONFIG_MISMATCH",
	"ERR_PNPM_LOCKFILE_BREAKING_CHANGE", "ERR_PNPM_FETCH_403",
	"ERR_PNPM_FETCH_404", "ERR_PNPM_TARBALL_INTEGRITY", "ERR_PNPM_NO_MATCHING_VERSION", "ERR_PNPM_UNSUPPORTED_ENGINE",
	"ERR_PNPM_BAD_PACKAGE_JSON", "ERR_PNPM_JSON_PARSE", "ERR_PNPM_WORKSPACE_PKG_NOT_FOUND",
}

// imageEnv keeps pnpm from fetching the version of itself that a manifest names. With COREPACK_ROOT set,
// pnpm leaves that to Corepack. The variable also works in scripts, which get no settings. imageEnv also
// keeps pnpm from asking for confirmation before it recreates a node_modules.
var imageEnv = map[string]string{"COREPACK_ROOT": "/usr/local/lib/node_modules/pnpm",
	"npm_config_confirm_modules_purge": "false"}

// program is the client as a package of npm's registry.
var program = node.Program{
	Name: "pnpm", Package: "pnpm", Version: clientVersion, Digest: clientDigest, Env: imageEnv,
	Commands: map[string]string{"pnpm": "bin/pnpm.cjs", "pnpx": "bin/pnpx.cjs"},
}

// Installs returns two layers: the client, and the packages that pnpm-lock.yaml files name.
func (Ecosystem) Installs(sources ecosystem.Sources) ([]ecosystem.Install, error) {
	manifests, texts, err := claimManifests(sources)
	if err != nil {
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

// Resolutions returns a run of pnpm for each manifest without a lock file.
func (Ecosystem) Resolutions(sources ecosystem.Sources) ([]ecosystem.Resolution, error) {
	manifests, texts, err := claimManifests(sources)
	if err != nil {
		return nil, err
	}
	return newLocked(sources).Resolutions(sources, manifests, texts, program.Layer(sources))
}

// Relocks reports whether a file is pnpm's lock file.
func (Ecosystem) Relocks(name string) bool { return name == lockFile }

// Relock returns a run of pnpm that regenerates a lock file for a merge.
func (Ecosystem) Relock(sources ecosystem.Sources, lock string) (resolution ecosystem.Resolution, ok bool, err error) {
	manifests, _, err := claimManifests(sources)
	if err != nil {
		return resolution, false, err
	}
	return newLocked(sources).Relock(sources, manifests, lock, program.Layer(sources))
}

func claimManifests(sources ecosystem.Sources) (manifests []string, texts map[string][]byte, err error) {
	return node.ClaimManifests(sources, func(dir, packageManager, root string) bool {
		return node.FindClient(sources.HasFile, dir, packageManager, root) == "pnpm"
	}, fields...)
}

// remedies lists advice for pnpm's error messages.
var remedies = []ecosystem.Remedy{
	{Says: "ERR_PNPM_OUTDATED_LOCKFILE",
		Fix: "run `pnpm install --lockfile-only` in your checkout and commit pnpm-lock.yaml"},
	{Says: "ERR_PNPM_LOCKFILE_CONFIG_MISMATCH",
		Fix: "run `pnpm install --lockfile-only` in your checkout and commit pnpm-lock.yaml"},
	{Says: "ERR_PNPM_NO_MATCHING_VERSION",
		Fix: "run `pnpm install --lockfile-only` in your checkout, which makes a lock file that fits, or says which " +
			"version there is not; commit both files"},
	{Says: "ERR_PNPM_FETCH_404",
		Fix: "see with `pnpm view` whether your registry has what is named here; mend its name or version in package.json, " +
			"run `pnpm install --lockfile-only` and commit both files"},
}

func newLocked(sources ecosystem.Sources) node.Locked {
	return node.Locked{
		Client: "pnpm", LockFile: lockFile, Layer: "pnpmdeps", Folder: "pnpm",
		Says: ecosystem.Words{Permanent: permanent, Telling: []string{"ERR_PNPM_", "FetchError: "}, Remedies: remedies},
		Read: readProject, Locker: Ecosystem{}, Redirect: redirectLock,
		Command: "pnpm install --frozen-lockfile --ignore-scripts --ignore-pnpmfile", Env: clientEnv(sources.Places()),
		LockCommand: "pnpm install --lockfile-only --no-frozen-lockfile --ignore-scripts --ignore-pnpmfile",
		ToLock:      "pnpm install --lockfile-only",
		Fix: "check that `pnpm install --frozen-lockfile --ignore-scripts` works in your checkout with pnpm " +
			clientVersion +
			" and `pnpm config get registry` answers; or go on without them, with container.deps: off: what needs them stays " +
			"red",
		Covers: func(s ecosystem.Sources, top, dir string) bool {
			return top != dir && ecosystem.IsWithin(dir, top) && s.HasFile(path.Join(top, workspaceFile))
		},
	}
}

// readProject reads the files that pnpm gets in addition to manifests: the lock file, filtered settings,
// and the patches that the lock file names.
func readProject(sources ecosystem.Sources, dir string) (map[string][]byte, []byte, error) {
	lock := path.Join(dir, lockFile)
	workspace := path.Join(dir, workspaceFile)
	rc := path.Join(dir, ".npmrc")
	var wanted []string
	for _, f := range []string{lock, workspace, rc} {
		if sources.HasFile(f) {
			wanted = append(wanted, f)
		}
	}
	files, err := sources.ReadTexts(wanted)
	if err != nil {
		return nil, nil, err
	}
	if text, ok := files[workspace]; ok {
		files[workspace] = node.FilterSections(text, sections)
	}
	if text, ok := files[rc]; ok {
		files[rc] = node.FilterSettings(text, settings)
	}
	patches, err := sources.ReadTexts(patchesOf(sources, dir, files[lock]))
	maps.Copy(files, patches)
	return files, files[lock], err
}

// patchesOf lists the patch files that a lock file names and that exist in the tree.
func patchesOf(sources ecosystem.Sources, dir string, lock []byte) (out []string) {
	for line := range strings.Lines(string(lock)) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "path: ")
		if name = strings.Trim(name, `'"`); !ok || path.Ext(name) != ".patch" || !filepath.IsLocal(name) {
			continue
		}
		if name = path.Join(dir, name); sources.HasFile(name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// clientEnv returns variables that make pnpm use the mirrors, skip scripts and copy files from its store,
// because a layer cannot hold the store's links. Packages are installed in .prepared. The usual name .pnpm
// stays free for the pnpm of a worker, which treats the image's packages as linked ones and adds its own
// beside them.
func clientEnv(places ecosystem.Places) map[string]string {
	return map[string]string{
		"CI": "true", "npm_config_registry": places.Registry + "/npm/", "npm_config_userconfig": "/tmp/npmrc",
		"npm_config_store_dir": "/tmp/pnpm/store", "npm_config_cache_dir": "/tmp/pnpm/cache",
		"npm_config_state_dir": "/tmp/pnpm/state", "npm_config_package_import_method": "copy",
		"npm_config_virtual_store_dir": "node_modules/.prepared", "npm_config_extend_node_path": "false",
		"npm_config_fetch_retries": "0", "npm_config_fetch_timeout": strconv.Itoa(ecosystem.ClientPatience * 1000),
		"npm_config_update_notifier": "false", "npm_config_reporter": "append-only",
	}
}
