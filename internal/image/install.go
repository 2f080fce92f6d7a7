package image

import (
	"archive/tar"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/registry"
	"company/internal/toolproto"
)

const (
	maxDeps     = 4 << 30 // bytes of installed packages
	maxDepFiles = 600_000
)

// sources are a tree as the installers of ecosystems look at it.
type sources struct {
	ctx     context.Context
	plan    *layerPlan
	tree    treeFiles
	claimed map[string]bool
}

func newSources(ctx context.Context, p *layerPlan, tree treeFiles) *sources {
	return &sources{ctx: ctx, plan: p, tree: tree, claimed: map[string]bool{}}
}

func (s *sources) HasFile(file string) bool            { return s.tree.hasFile(file) }
func (s *sources) Files() []string                     { return s.tree.files }
func (s *sources) FilesNamed(names ...string) []string { return s.tree.filesNamed(names...) }
func (s *sources) HashText(text string) string         { return string(hashKey(text)) }
func (s *sources) ReadTexts(files []string) (map[string][]byte, error) {
	return s.tree.readTexts(s.ctx, files)
}
func (s *sources) AddNote(format string, args ...any) { s.plan.addNote(format, args...) }
func (s *sources) Claim(file string)                  { s.claimed[file] = true }
func (s *sources) IsClaimed(file string) bool         { return s.claimed[file] }
func (s *sources) Places() ecosystem.Places {
	return ecosystem.Places{Build: buildOut, Deps: depsPath, Workspace: toolproto.Workspace, Registry: registryURL}
}

// addInstalls adds the layers of the toolchains that a request names.
func (p *layerPlan) addInstalls(req Request, s *sources) error {
	for _, e := range registry.Of[ecosystem.Installer]() {
		if !slices.Contains(req.Toolchains, e.Name()) {
			continue
		}
		all, err := e.Installs(s)
		if err != nil {
			return err
		}
		missing := false // the layers above a layer need it
		for _, in := range all {
			if len(in.Steps) == 0 {
				p.appendTarStep(in.Layer, in.Why, fillFiles(in), in.Inputs...)
				continue
			}
			var fetch *registryAccess
			if in.Remote && !missing {
				if fetch, err = p.installAccess(req, in); err != nil {
					return err
				}
				missing = fetch == nil
			}
			if !missing {
				p.appendTarStep(in.Layer, in.Why, p.b.fillInstall(in, fetch), append(slices.Clone(in.Inputs), p.b.projectKey(req)...)...).env = withVariables(in)
			}
		}
	}
	return nil
}

// installAccess is what may be had of registries for a layer; nil where nothing is.
func (p *layerPlan) installAccess(req Request, in ecosystem.Install) (*registryAccess, error) {
	if in.Own { // the company's own lock file says it, whatever the task has added
		repo := *req.Repo
		repo.Policy, req.Repo = nil, &repo
	}
	return p.registryAccess(req, in.Registry, in.What, in.Locks)
}

// withVariables sets the variables of a layer in the environment of an image.
func withVariables(in ecosystem.Install) func([]string) []string {
	if len(in.Env) == 0 && in.Path == "" {
		return nil
	}
	return func(env []string) []string {
		var out []string
		for _, e := range env {
			name, value, _ := strings.Cut(e, "=")
			if _, ours := in.Env[name]; ours {
				continue
			}
			if name == "PATH" && in.Path != "" {
				e = "PATH=" + in.Path + ":" + value
			}
			out = append(out, e)
		}
		for _, name := range slices.Sorted(maps.Keys(in.Env)) {
			out = append(out, name+"="+in.Env[name])
		}
		return out
	}
}

// fillFiles writes a layer that nothing runs for.
func fillFiles(in ecosystem.Install) writeLayerFunc {
	return func(_ context.Context, _ *existingImage, _ string, l *layer) error {
		return addFiles(l, in.Collector().Files())
	}
}

// fillInstall runs a client on the files that it is shown, and takes out of the
// container what the ecosystem has a place for.
func (b *Builder) fillInstall(in ecosystem.Install, fetch *registryAccess) writeLayerFunc {
	return func(ctx context.Context, under *existingImage, work string, l *layer) error {
		stage := func(s *layer) error { return stageFiles(s, in) }
		do := func(h *buildSession) error {
			for _, step := range in.Steps {
				b.reportProgress("%s", step.Progress)
				r, err := h.runCommand(step.Dir, step.Command, step.Env)
				if err != nil {
					return err
				}
				if r.ExitCode != 0 {
					return clientError(in.Says, step, r)
				}
			}
			return nil
		}
		collect := func(ctx context.Context, name string) error { return b.collectInstall(ctx, name, in, l) }
		return b.runInstall(ctx, installJob{name: in.Layer + "-" + filepath.Base(work), image: under.id, stageFiles: stage, access: fetch, work: do, collect: collect, timeout: 25 * time.Minute}, work)
	}
}

// stageFiles writes what a client is shown. It may write beside it.
func stageFiles(l *layer, in ecosystem.Install) error {
	if in.From != "" {
		if err := l.addDir(strings.TrimPrefix(in.From, "/"), agentID); err != nil {
			return err
		}
	}
	root := strings.TrimPrefix(buildOut, "/")
	for _, f := range in.Stage {
		for _, dir := range parentDirs(f.Path) {
			if err := l.addDir(path.Join(root, dir), agentID); err != nil {
				return err
			}
		}
		if err := l.writeHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path.Join(root, f.Path), Mode: 0o644, Uid: agentID, Gid: agentID, Size: int64(len(f.Text))}); err != nil {
			return err
		}
		if _, err := l.tw.Write(f.Text); err != nil {
			return err
		}
	}
	return nil
}

// collectInstall copies what a client has left into a layer.
func (b *Builder) collectInstall(ctx context.Context, name string, in ecosystem.Install, l *layer) error {
	c := in.Collector()
	var total int64
	var n int
	from := cmp.Or(in.From, buildOut)
	err := b.readTree(ctx, name, from, func(h *tar.Header, r io.Reader) error {
		below, ok := strings.CutPrefix(cleanName(h.Name), path.Base(from)+"/")
		if !ok {
			return nil // the folder itself
		}
		e := ecosystem.Entry{Path: below}
		if h.Typeflag == tar.TypeSymlink {
			e.Link = h.Linkname
		}
		to, ok := c.Place(e)
		if !ok {
			return nil
		}
		to.Path = strings.TrimPrefix(to.Path, "/")
		if n++; n > maxDepFiles {
			return company.E(company.EImage, fmt.Sprintf("the project's %s packages are over %d files", in.Layer, maxDepFiles)).Fix("set container.deps: off")
		}
		switch h.Typeflag {
		case tar.TypeDir:
			return l.addDir(to.Path, 0)
		case tar.TypeReg:
			if total += h.Size; total > maxDeps {
				return company.E(company.EImage, fmt.Sprintf("the project's %s packages are over 4 GiB", in.Layer)).Fix("set container.deps: off")
			}
			mode := int64(0o644)
			if h.Mode&0o111 != 0 {
				mode = 0o755
			}
			return l.addStream(to.Path, mode, h.Size, r)
		case tar.TypeSymlink:
			return l.addLink(to.Path, to.Link)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return addFiles(l, c.Files())
}

func addFiles(l *layer, files []ecosystem.ImageFile) (err error) {
	for _, f := range files {
		at := strings.TrimPrefix(f.Path, "/")
		if f.Link != "" {
			err = l.addLink(at, f.Link)
		} else {
			err = l.addBytes(at, 0o644, f.Text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
