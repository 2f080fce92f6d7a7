package image

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/dockerapi"
	"company/internal/ecosystem"
	"company/internal/toolproto"
)

const (
	maxDeps     = 4 << 30 // bytes of installed packages
	maxDepFiles = 600_000
	// layerTimeout bounds the making of one layer of packages.
	layerTimeout = 25 * time.Minute
)

// sources are a tree as the installers of ecosystems look at it.
type sources struct {
	ctx     context.Context
	plan    *layerPlan
	tree    treeFiles
	base    *sources // nil: these are the base's
	request Request
	claimed map[string]bool
}

func newSources(ctx context.Context, p *layerPlan, tree treeFiles, req Request) *sources {
	return &sources{ctx: ctx, plan: p, tree: tree, request: req, claimed: map[string]bool{}}
}

func (s *sources) HasFile(file string) bool            { return s.tree.hasFile(file) }
func (s *sources) Files() []string                     { return s.tree.files }
func (s *sources) FilesNamed(names ...string) []string { return s.tree.filesNamed(names...) }
func (s *sources) FileID(file string) string           { return s.tree.blobs[file] }
func (s *sources) IsOffline() bool                     { return s.request.Offline }
func (s *sources) HasToolchain(name string) bool       { return slices.Contains(s.request.Toolchains, name) }
func (s *sources) Scripts() []string                   { return s.request.Scripts }
func (s *sources) Checks() []company.GateCommand       { return s.request.Checks }
func (s *sources) HashText(text string) string         { return string(hashKey(text)) }
func (s *sources) ReadTexts(files []string) (map[string][]byte, error) {
	return s.tree.readTexts(s.ctx, files)
}
func (s *sources) Base() ecosystem.Sources {
	if s.base == nil {
		return s
	}
	return s.base
}
func (s *sources) AddNote(format string, args ...any) { s.plan.addNote(format, args...) }
func (s *sources) Claim(file string)                  { s.claimed[file] = true }
func (s *sources) IsClaimed(file string) bool         { return s.claimed[file] }
func (s *sources) Places() ecosystem.Places {
	return ecosystem.Places{Build: buildOut, Deps: depsPath, Workspace: toolproto.Workspace, History: RepoPath, Registry: registryURL}
}

// fillFiles writes a layer that nothing runs for.
func fillFiles(in ecosystem.Install) writeLayerFunc {
	return func(_ context.Context, _ *existingImage, _ string, l *layer) error {
		return addFiles(l, in.Collector().Files())
	}
}

// fillInstall runs a client on the files that it is shown, and takes out of the
// container what the ecosystem has a place for.
func (b *Builder) fillInstall(in ecosystem.Install, repo *Repo, access *registryAccess) writeLayerFunc {
	return func(ctx context.Context, under *existingImage, work string, l *layer) error {
		if !in.Time.IsZero() {
			l.modTime = in.Time
		}
		kept := b.openCheckpoints(in, filepath.Base(work), dockerapi.BuildPrefix+in.Layer+"-"+filepath.Base(work))
		stage := func(s *layer) error {
			if err := kept.stageEarlier(s); err != nil {
				return err
			}
			if in.History {
				if err := packRepo(ctx, *repo, work, s); err != nil {
					return err
				}
			}
			return stageFiles(s, in)
		}
		do := func(h *buildSession) error {
			h.kept = kept
			return b.runSteps(ctx, in, h.runStep)
		}
		collect := func(ctx context.Context, name string) error { return b.collectInstall(ctx, name, in, l) }
		var receive func(io.Reader) error
		if in.From == "" && !in.History { // compiled files may be far larger than those installed
			receive = func(r io.Reader) error { return receiveInstall(r, in, l) }
		}
		project := ""
		if repo != nil {
			project = repo.MirrorDir
		}
		stopAhead := access.startAhead(ctx, in.Ahead)
		defer stopAhead()
		err := b.runInstall(ctx, installJob{name: in.Layer + "-" + filepath.Base(work), image: under.id, stageFiles: stage, access: access, work: do, collect: collect, receive: receive,
			ifKilled: in.IfKilled, project: project, timeout: layerTimeout, leaveForLater: l.leaveForLater}, work)
		if err == nil {
			if err = kept.addTo(l); err == nil {
				kept.removeAll()
			}
		}
		return b.doWithout(ctx, in, access, err, l)
	}
}

// doWithout leaves the packages out that no check needs, where no further try could
// have them or their registry is away: the layer is empty, so the next task asks no
// registry again.
func (b *Builder) doWithout(ctx context.Context, in ecosystem.Install, access *registryAccess, err error, l *layer) error {
	var e *company.Error
	if !in.Spare || !errors.As(err, &e) || e.Code != company.EImage || !company.NeedsPerson(e) && !access.isAway() {
		return err
	}
	l.notes = boundNotes([]string{e.Message + "; no check needs them, so they are left out"})
	b.reportProgress("%s", l.notes[0])
	b.log.InfoContext(ctx, "packages that no check needs are left out", "layer", in.Layer, "err", err)
	return addFiles(l, in.Collector().Files())
}

// runSteps runs the steps of a layer. One that has an excuse does not keep those
// after it from running; they may fail for the same reason, which is told once.
func (b *Builder) runSteps(ctx context.Context, in ecosystem.Install, run func(ecosystem.Step) (toolproto.RunResult, error)) error {
	told := ""
	for _, step := range in.Steps {
		b.reportProgress("%s", step.Progress)
		r, err := run(step)
		if late := (*stepTimeout)(nil); errors.As(err, &late) && step.Excuse != nil {
			r.ExitCode, err = exitTimeout, nil
		}
		if err != nil {
			return explainTimeout(err, step)
		}
		if r.ExitCode == 0 {
			continue
		}
		if step.Excuse == nil {
			return clientError(in.Registry, in.Says, step, r)
		}
		b.log.InfoContext(ctx, "a step of a layer ended with errors", "layer", in.Layer, "exit_code", r.ExitCode, "output", r.Text())
		if excuse := step.Excuse(r.ExitCode); excuse != told {
			b.reportProgress("%s", excuse)
			told = excuse
		}
	}
	return nil
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

// collectInstall copies what a client has left in a stopped container into a layer.
func (b *Builder) collectInstall(ctx context.Context, name string, in ecosystem.Install, l *layer) error {
	from := cmp.Or(in.From, buildOut)
	c := newTreeCopy(in, l, path.Base(from)+"/")
	if err := b.readTree(ctx, name, from, c.copyEntry); err != nil {
		return err
	}
	return c.addCollected()
}

// receiveInstall does the same with what a container sends of its memory.
func receiveInstall(r io.Reader, in ecosystem.Install, l *layer) error {
	c := newTreeCopy(in, l, "")
	err := readArchive(r, "what a build container sends", func(h *tar.Header, r io.Reader) error {
		if below, ok := strings.CutPrefix(h.Linkname, memoryOut+"/"); ok && h.Typeflag == tar.TypeSymlink {
			h.Linkname = path.Join(buildOut, below)
		}
		return c.copyEntry(h, r)
	})
	if err != nil {
		return err
	}
	return c.addCollected()
}

// treeCopy copies the entries of a tar into a layer, as far as a collector has a place
// for them.
type treeCopy struct {
	in        ecosystem.Install
	to        *layer
	top       string // what the names begin with
	collector ecosystem.Collector
	bytes     int64
	files     int
}

func newTreeCopy(in ecosystem.Install, to *layer, top string) *treeCopy {
	return &treeCopy{in: in, to: to, top: top, collector: in.Collector()}
}

func (c *treeCopy) copyEntry(h *tar.Header, r io.Reader) error {
	below, ok := strings.CutPrefix(cleanName(h.Name), c.top)
	if !ok {
		return nil // the folder itself
	}
	e := ecosystem.Entry{Path: below}
	if h.Typeflag == tar.TypeSymlink {
		e.Link = h.Linkname
	}
	to, ok := c.collector.Place(e)
	if !ok {
		return nil
	}
	to.Path = strings.TrimPrefix(to.Path, "/")
	if c.files++; c.files > maxDepFiles {
		return company.E(company.EImage, fmt.Sprintf("the project's %s packages are over %d files", c.in.Layer, maxDepFiles)).Fix("set container.deps: off")
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return c.to.addDir(to.Path, 0)
	case tar.TypeReg:
		if c.bytes += h.Size; c.bytes > maxDeps {
			return company.E(company.EImage, fmt.Sprintf("the project's %s packages are over 4 GiB", c.in.Layer)).Fix("set container.deps: off")
		}
		return c.to.addStream(to.Path, fileMode(c.in, h.Mode), h.Size, r)
	case tar.TypeSymlink:
		return c.to.addLink(to.Path, to.Link)
	case tar.TypeLink: // another name of a file that came before
		target, ok := strings.CutPrefix(cleanName(h.Linkname), c.top)
		if first, placed := c.collector.Place(ecosystem.Entry{Path: target}); ok && placed {
			return c.to.addHardLink(to.Path, strings.TrimPrefix(first.Path, "/"))
		}
	}
	return nil
}

// addCollected adds the files that the collector makes of all.
func (c *treeCopy) addCollected() error {
	if n, ok := c.collector.(ecosystem.Noter); ok {
		c.to.notes = boundNotes(n.Notes())
	}
	return addFiles(c.to, c.collector.Files())
}

// fileMode is that of a file in the image, by the one it had.
func fileMode(in ecosystem.Install, mode int64) int64 {
	switch {
	case in.ReadOnly:
		return 0o444
	case mode&0o111 != 0:
		return 0o755
	}
	return 0o644
}

func addFiles(l *layer, files []ecosystem.ImageFile) (err error) {
	for _, f := range files {
		at := strings.TrimPrefix(f.Path, "/")
		switch {
		case f.Dir:
			err = l.addDir(at, 0)
		case f.Link != "":
			err = l.addLink(at, f.Link)
		default:
			err = l.addBytes(at, 0o644, f.Text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
