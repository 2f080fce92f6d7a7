package image

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/toolproto"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	maxProjects  = 16      // lock files of one kind in one repository
	maxManifests = 500     // package.json files that are looked at
	maxDeps      = 4 << 30 // bytes of installed packages
	maxDepFiles  = 600_000
)

// npmDeps is what the lock files of a tree ask npm to install.
type npmDeps struct {
	projects  []npmProject
	locks     map[string][]byte // path → content, for the policy
	summary   string
	keyInputs []string
	remote    bool // some package comes from a registry
}

// npmProject is one lock file with the manifests that belong to it.
type npmProject struct {
	dir   string            // "." for the root
	files map[string][]byte // path → what npm is shown of it
}

// manifestFields are the fields of a package.json that say what is installed. Others
// stay out: scripts above all, and what would make a layer anew for nothing.
var manifestFields = []string{
	"name", "version", "dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "peerDependenciesMeta", "bundleDependencies",
	"bundledDependencies", "workspaces", "overrides", "bin", "engines", "os", "cpu",
}

// npmSettings of a project's .npmrc change what an installation is. The rest
// names registries, credentials and scripts.
var npmSettings = []string{"legacy-peer-deps", "strict-peer-deps", "install-strategy"}

// readNPMDeps reads what is to be installed. Notes tell of manifests that nobody
// locked.
func (p *layerPlan) readNPMDeps(ctx context.Context, tree treeFiles) (npmDeps, error) {
	d := npmDeps{locks: map[string][]byte{}}
	manifests := tree.filesNamedAnywhere("package.json")
	if len(manifests) > maxManifests {
		p.addNote("only the first %d of %d package.json files are looked at", maxManifests, len(manifests))
		manifests = manifests[:maxManifests]
	}
	locks := map[string]string{} // directory → lock file; npm prefers the second
	for _, name := range append(tree.filesNamedAnywhere("package-lock.json"), tree.filesNamedAnywhere("npm-shrinkwrap.json")...) {
		if tree.hasFile(path.Join(path.Dir(name), "package.json")) {
			locks[path.Dir(name)] = name
		}
	}
	shown, err := tree.readTexts(ctx, manifests)
	if err != nil {
		return d, err
	}
	for m, text := range shown {
		shown[m] = reduceManifest(text)
	}
	dirs := make([]string, 0, len(locks))
	for _, m := range manifests {
		dir := path.Dir(m)
		if locks[dir] == "" {
			continue
		}
		if outer := workspaceOf(dir, locks, shown); outer == "" {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) > maxProjects {
		p.addNote("only the first %d of %d npm lock files are installed", maxProjects, len(dirs))
		dirs = dirs[:maxProjects]
	}
	for _, dir := range dirs {
		lock, err := tree.readText(ctx, locks[dir])
		if err != nil {
			return d, err
		}
		d.locks[locks[dir]] = lock
		some, remote := lockNamesPackages(lock)
		if !some && !namesPackages(shown[path.Join(dir, "package.json")]) {
			continue
		}
		d.remote = d.remote || remote || !some
		project := npmProject{dir: dir, files: map[string][]byte{locks[dir]: canonicalLock(lock)}}
		for _, m := range manifests {
			if isWithin(path.Dir(m), dir) {
				project.files[m] = shown[m]
			}
		}
		if rc := path.Join(dir, ".npmrc"); tree.hasFile(rc) {
			text, err := tree.readText(ctx, rc)
			if err != nil {
				return d, err
			}
			project.files[rc] = filterNpmrc(text)
		}
		d.projects = append(d.projects, project)
		for _, name := range sortedKeys(project.files) {
			d.keyInputs = append(d.keyInputs, name, string(hashKey(string(project.files[name]))))
		}
	}
	installed := make([]string, 0, len(d.projects))
	for _, p := range d.projects {
		installed = append(installed, p.dir)
	}
	d.summary = joinPaths(installed, "package-lock.json")
	p.noteUnlocked(tree, manifests, shown, dirs)
	return d, nil
}

// lockNamesPackages tells whether a lock file asks for anything, and whether that is
// more than links to the project's own workspaces.
func lockNamesPackages(text []byte) (some, remote bool) {
	var lock struct {
		Packages     map[string]struct{ Link bool }
		Dependencies map[string]any // of the oldest form
	}
	if json.Unmarshal(text, &lock) != nil {
		return true, true // npm says what is wrong with it
	}
	for key, p := range lock.Packages {
		if _, _, ok := cutLast(key, "node_modules/"); ok {
			some = true
			remote = remote || !p.Link
		}
	}
	if len(lock.Packages) == 0 && len(lock.Dependencies) > 0 {
		return true, true
	}
	return some, remote
}

// noteUnlocked notes manifests that ask for packages which nobody locked.
func (p *layerPlan) noteUnlocked(tree treeFiles, manifests []string, shown map[string][]byte, dirs []string) {
	for _, m := range manifests {
		dir := path.Dir(m)
		if !namesPackages(shown[m]) || slices.ContainsFunc(dirs, func(d string) bool { return isWithin(dir, d) }) {
			continue
		}
		for _, other := range []struct{ lock, tool string }{{"yarn.lock", "yarn"}, {"pnpm-lock.yaml", "pnpm"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"}} {
			if tree.hasFile(path.Join(dir, other.lock)) || tree.hasFile(other.lock) {
				p.addNote("%s is locked by %s, which is not supported: nothing is installed (a package-lock.json made by `npm install --package-lock-only` is)", m, other.tool)
				return
			}
		}
		p.addNote("%s has no lock file: nothing is installed (make one with `npm install --package-lock-only`)", m)
		return // one is enough to say it
	}
}

// namesPackages tells whether a manifest names packages.
func namesPackages(text []byte) bool {
	var m struct{ Dependencies, DevDependencies map[string]any }
	return json.Unmarshal(text, &m) == nil && len(m.Dependencies)+len(m.DevDependencies) > 0
}

// isWithin tells whether a directory is another or lies below it.
func isWithin(dir, top string) bool {
	return top == "." || dir == top || strings.HasPrefix(dir, top+"/")
}

// workspaceOf is the directory of a locked project that has dir as one of its
// workspaces; npm installs both from that one's lock file.
func workspaceOf(dir string, locks map[string]string, shown map[string][]byte) string {
	for top := path.Dir(dir); dir != "."; top = path.Dir(top) {
		if locks[top] != "" {
			rel := dir
			if top != "." {
				rel = strings.TrimPrefix(dir, top+"/")
			}
			for _, pattern := range readWorkspaces(shown[path.Join(top, "package.json")]) {
				if ok, err := doublestar.Match(strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/"), rel); err == nil && ok {
					return top
				}
			}
		}
		if top == "." {
			return ""
		}
	}
	return ""
}

// readWorkspaces are the patterns of a manifest.
func readWorkspaces(text []byte) []string {
	var m struct{ Workspaces json.RawMessage }
	if json.Unmarshal(text, &m) != nil {
		return nil
	}
	var list []string
	if json.Unmarshal(m.Workspaces, &list) == nil {
		return list
	}
	var long struct{ Packages []string }
	_ = json.Unmarshal(m.Workspaces, &long)
	return long.Packages
}

// reduceManifest is a manifest with the fields that count. What cannot be read is
// shown to npm as it is: npm says best what is wrong with it.
func reduceManifest(text []byte) []byte {
	var all, some map[string]json.RawMessage
	if json.Unmarshal(text, &all) != nil {
		return text
	}
	some = map[string]json.RawMessage{}
	for _, k := range manifestFields {
		if v, ok := all[k]; ok {
			some[k] = v
		}
	}
	out, err := json.Marshal(some)
	if err != nil {
		return text
	}
	return out
}

// canonicalLock gives every file of a registry the public registry's address,
// which npm replaces by the one it is told: a lock file made against a mirror
// works against any other. The digests stay.
func canonicalLock(text []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var lock map[string]any
	if dec.Decode(&lock) != nil {
		return text
	}
	packages, _ := lock["packages"].(map[string]any)
	for key, v := range packages {
		p, _ := v.(map[string]any)
		address, _ := p["resolved"].(string)
		_, name, ok := cutLast(key, "node_modules/")
		if alias, isAlias := p["name"].(string); isAlias {
			name = alias
		}
		before, file, isFile := cutLast(address, "/-/")
		if !ok || !isFile || !strings.HasPrefix(before, "http") || !strings.HasSuffix(file, ".tgz") || strings.Contains(file, "/") {
			continue
		}
		p["resolved"] = "https://registry.npmjs.org/" + name + "/-/" + file
	}
	out, err := json.Marshal(lock)
	if err != nil {
		return text
	}
	return out
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// filterNpmrc keeps the settings that count.
func filterNpmrc(text []byte) []byte {
	var out strings.Builder
	for line := range strings.SplitSeq(string(text), "\n") {
		k, v, ok := strings.Cut(line, "=")
		if ok && slices.Contains(npmSettings, strings.TrimSpace(k)) {
			fmt.Fprintf(&out, "%s=%s\n", strings.TrimSpace(k), strings.TrimSpace(v))
		}
	}
	return []byte(out.String())
}

// npmEnv makes npm ask us and run nothing.
func npmEnv() map[string]string {
	return map[string]string{
		"npm_config_registry": registryURL + "/npm/", "npm_config_replace_registry_host": "npmjs", "npm_config_ignore_scripts": "true",
		"npm_config_audit": "false", "npm_config_fund": "false", "npm_config_update_notifier": "false", "npm_config_progress": "false",
		"npm_config_cache": "/tmp/npm", "npm_config_userconfig": "/tmp/npmrc", "npm_config_fetch_retries": "1", "npm_config_loglevel": "error",
	}
}

// fillNPM installs what the lock files name, without running anything of it.
func (b *Builder) fillNPM(d npmDeps, fetch *registryAccess) writeLayerFunc {
	return func(ctx context.Context, under *existingImage, work string, l *layer) error {
		stage := func(s *layer) error { return d.stageFiles(s) }
		do := func(h *buildSession) error {
			for _, p := range d.projects {
				b.reportProgress("installing the npm packages of %s", joinPaths([]string{p.dir}, "package-lock.json"))
				r, err := h.runCommand(p.dir, "npm ci --ignore-scripts", npmEnv())
				if err != nil {
					return err
				}
				if r.ExitCode != 0 {
					return clientError("the npm packages of "+joinPaths([]string{p.dir}, "package-lock.json")+" cannot be installed", r,
						"check that `npm ci --ignore-scripts` works in your checkout and `npm config get registry` answers; or go on without them, with container.deps: off: what needs them stays red")
				}
			}
			return nil
		}
		collect := func(ctx context.Context, name string) error { return b.collectNodeModules(ctx, name, l) }
		return b.runInstall(ctx, installJob{name: "npm-" + filepath.Base(work), image: under.id, stageFiles: stage, access: fetch, work: do, collect: collect, timeout: 25 * time.Minute}, work)
	}
}

// stageFiles writes what npm sees: manifests, lock files, settings, and an empty
// file for each program of a workspace, which npm wants to link.
func (d npmDeps) stageFiles(l *layer) error {
	root := strings.TrimPrefix(buildOut, "/")
	done := map[string]bool{}
	put := func(name string, text []byte) error {
		if done[name] {
			return nil
		}
		done[name] = true
		for _, dir := range parentDirs(name) {
			if err := l.addDir(path.Join(root, dir), agentID); err != nil {
				return err
			}
		}
		if err := l.writeHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path.Join(root, name), Mode: 0o644, Uid: agentID, Gid: agentID, Size: int64(len(text))}); err != nil {
			return err
		}
		_, err := l.tw.Write(text)
		return err
	}
	for _, p := range d.projects {
		for _, name := range sortedKeys(p.files) {
			if err := put(name, p.files[name]); err != nil {
				return err
			}
		}
		for _, name := range sortedKeys(p.files) {
			if path.Base(name) != "package.json" {
				continue
			}
			for _, bin := range readBins(p.files[name]) {
				if bin = path.Join(path.Dir(name), bin); filepath.IsLocal(bin) && len(bin) < 200 {
					if err := put(bin, nil); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// readBins are the files that a manifest names as commands.
func readBins(text []byte) []string {
	var m struct{ Bin json.RawMessage }
	if json.Unmarshal(text, &m) != nil {
		return nil
	}
	var one string
	var many map[string]string
	if json.Unmarshal(m.Bin, &one) == nil {
		return []string{one}
	}
	_ = json.Unmarshal(m.Bin, &many)
	out := make([]string, 0, len(many))
	for _, k := range sortedKeys(many) {
		out = append(out, many[k])
	}
	return out
}

// collectNodeModules copies what npm installed into a layer, below depsPath in
// the shape of the tree, and lists where node_modules lie for the ready script.
func (b *Builder) collectNodeModules(ctx context.Context, name string, l *layer) error {
	const inside = "opt/deps/npm"
	if err := l.addDir(inside, 0); err != nil {
		return err
	}
	var dirs []string
	var total int64
	var n int
	seen := map[string]bool{}
	err := b.readTree(ctx, name, buildOut, func(h *tar.Header, r io.Reader) error {
		rel := strings.TrimPrefix(cleanName(h.Name), path.Base(buildOut)+"/")
		top, _, ok := strings.Cut("/"+rel+"/", "/node_modules/")
		if !ok {
			return nil // what was staged
		}
		top = strings.TrimPrefix(top, "/")
		if !seen[top] {
			seen[top] = true
			dirs = append(dirs, top)
		}
		to := path.Join(inside, rel)
		if n++; n > maxDepFiles {
			return company.E(company.EImage, fmt.Sprintf("the project's npm packages are over %d files", maxDepFiles)).Fix("set container.deps: off")
		}
		switch h.Typeflag {
		case tar.TypeDir:
			return l.addDir(to, 0)
		case tar.TypeReg:
			if total += h.Size; total > maxDeps {
				return company.E(company.EImage, "the project's npm packages are over 4 GiB").Fix("set container.deps: off")
			}
			mode := int64(0o644)
			if h.Mode&0o111 != 0 {
				mode = 0o755
			}
			return l.addStream(to, mode, h.Size, r)
		case tar.TypeSymlink:
			if target, ok := moveLink(rel, h.Linkname); ok {
				return l.addLink(to, target)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.Sort(dirs)
	var list strings.Builder
	for _, d := range dirs {
		if d != "" {
			d += "/"
		}
		list.WriteString(d + "\n")
	}
	return l.addBytes("opt/deps/npm.dirs", 0o644, []byte(list.String()))
}

// moveLink is the target of a link of npm's after the packages were moved: one to
// a package moves along, one to a workspace leads into the tree.
func moveLink(rel, target string) (string, bool) {
	to := target
	if !path.IsAbs(to) {
		to = path.Join(buildOut, path.Dir(rel), to)
	}
	below, ok := strings.CutPrefix(path.Clean(to), buildOut+"/")
	switch {
	case !ok:
		return "", false // out of the tree
	case !strings.Contains("/"+below+"/", "/node_modules/"):
		return path.Join(toolproto.Workspace, below), true
	case path.IsAbs(target):
		return path.Join(depsPath, "npm", below), true
	}
	return target, true
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
