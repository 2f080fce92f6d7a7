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
	"company/internal/container/dockerapi"
	"company/internal/ecosystem"
	"company/internal/toolbox/toolproto"
)

const (
	maxDeps     = 4 << 30 // bytes of installed packages
	maxDepFiles = 600_000
	// layerTimeout limits the time for building one layer of packages.
	layerTimeout = 25 * time.Minute
)

// sources implements ecosystem.Sources for one tree.
type sources struct {
	ctx     context.Context
	plan    *layerPlan
	tree    treeFiles
	base    *sources // nil if these are the sources of the base
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
	return ecosystem.Places{Build: buildOut, Deps: depsPath, Workspace: toolproto.Workspace, History: RepoPath,
		Registry: MirrorURL}
}

// fillFiles writes a layer for which no program runs.
func fillFiles(install ecosystem.Install) writeLayerFunc {
	return func(_ context.Context, _ *existingImage, _ string, l *layer) error {
		return addFiles(l, install.Collector().Files())
	}
}

// fillInstall runs a client on the staged files, and copies the files that the ecosystem wants from
// the container into the layer.
func (b *Builder) fillInstall(install ecosystem.Install, repo *Repo, access *registryAccess) writeLayerFunc {
	return func(ctx context.Context, under *existingImage, work string, l *layer) error {
		if !install.Time.IsZero() {
			l.modTime = install.Time
		}
		kept := b.openCheckpoints(install, filepath.Base(work), dockerapi.BuildPrefix+install.Layer+"-"+filepath.Base(work))
		stage := func(s *layer) error {
			if err := kept.stageEarlier(s); err != nil {
				return err
			}
			if install.History {
				if err := packRepo(ctx, *repo, work, s); err != nil {
					return err
				}
			}
			return stageFiles(s, install)
		}
		do := func(h *buildSession) error {
			h.kept = kept
			return b.runSteps(ctx, install, h.runStep)
		}
		collect := func(ctx context.Context, name string) error { return b.collectInstall(ctx, name, install, l) }
		var receive func(io.Reader) error
		if install.From == "" && !install.History { // compiled files may be much larger than installed ones
			receive = func(r io.Reader) error { return receiveInstall(r, install, l) }
		}
		project := ""
		if repo != nil {
			project = repo.MirrorDir
		}
		stopAhead := access.startAhead(ctx, install.Ahead)
		defer stopAhead()
		err := b.runInstall(
			ctx, installJob{name: install.Layer + "-" + filepath.Base(work), image: under.id, stageFiles: stage, access: access,
				work: do, collect: collect, receive: receive,
				ifKilled: install.IfKilled, project: project, timeout: layerTimeout, leaveForLater: l.leaveForLater}, work)
		if err == nil {
			if err = kept.addTo(l); err == nil {
				kept.removeAll()
			}
		}
		return b.doWithout(ctx, install, access, err, l)
	}
}

// doWithout ignores the failure to install packages that no check needs, if further attempts would
// also fail or their registry is unreachable. The layer stays empty, so the next task does not ask the
// registry again. Other errors are returned unchanged.
func (b *Builder) doWithout(
	ctx context.Context, install ecosystem.Install, access *registryAccess, err error, l *layer,
) error {
	var fault *company.Error
	if !install.Spare || !errors.As(err, &fault) || fault.Code != company.EImage ||
		!company.NeedsPerson(fault) && !access.isAway() {
		return err
	}
	l.notes = boundNotes([]string{fault.Message + "; no check needs them, so they are left out"})
	b.reportProgress("%s", l.notes[0])
	b.log.InfoContext(ctx, "packages that no check needs are left out", "layer", install.Layer, "err", err)
	return addFiles(l, install.Collector().Files())
}

// runSteps runs the steps of a layer. If a step with an Excuse fails, the later steps still run. They
// may fail for the same reason, so the same excuse is reported only once.
func (b *Builder) runSteps(
	ctx context.Context, install ecosystem.Install, run func(ecosystem.Step) (toolproto.RunResult, error),
) error {
	told := ""
	for _, step := range install.Steps {
		b.reportProgress("%s", step.Progress)
		runResult, err := run(step)
		if late := (*stepTimeout)(nil); errors.As(err, &late) && step.Excuse != nil {
			runResult.ExitCode, err = company.ExitTimeout, nil
		}
		if err != nil {
			return explainTimeout(err, step)
		}
		if runResult.ExitCode == 0 {
			continue
		}
		if step.Excuse == nil {
			return clientError(install.Registry, install.Says, step, runResult)
		}
		b.log.InfoContext(ctx, "a step of a layer ended with errors", "layer", install.Layer, "exit_code", runResult.ExitCode,
			"output", runResult.Text())
		if excuse := step.Excuse(runResult.ExitCode); excuse != told {
			b.reportProgress("%s", excuse)
			told = excuse
		}
	}
	return nil
}

// stageFiles writes the files for the client. Their folders are writable for it.
func stageFiles(l *layer, install ecosystem.Install) error {
	if install.From != "" {
		if err := l.addDir(strings.TrimPrefix(install.From, "/"), agentID); err != nil {
			return err
		}
	}
	root := strings.TrimPrefix(buildOut, "/")
	for _, stagedFile := range install.Stage {
		for _, dir := range parentDirs(stagedFile.Path) {
			if err := l.addDir(path.Join(root, dir), agentID); err != nil {
				return err
			}
		}
		if err := l.writeHeader(
			&tar.Header{Typeflag: tar.TypeReg, Name: path.Join(root, stagedFile.Path), Mode: 0o644, Uid: agentID, Gid: agentID,
				Size: int64(len(stagedFile.Text))}); err != nil {
			return err
		}
		if _, err := l.tw.Write(stagedFile.Text); err != nil {
			return err
		}
	}
	return nil
}

// collectInstall copies a client's results from a stopped container into a layer.
func (b *Builder) collectInstall(ctx context.Context, name string, install ecosystem.Install, l *layer) error {
	from := cmp.Or(install.From, buildOut)
	treeCopy := newTreeCopy(install, l, path.Base(from)+"/")
	if err := b.readTree(ctx, name, from, treeCopy.copyEntry); err != nil {
		return err
	}
	return treeCopy.addCollected()
}

// receiveInstall copies a client's results into a layer from a tar that the container sends.
func receiveInstall(r io.Reader, install ecosystem.Install, l *layer) error {
	treeCopy := newTreeCopy(install, l, "")
	err := readArchive(r, "what a build container sends", func(header *tar.Header, r io.Reader) error {
		if below, ok := strings.CutPrefix(header.Linkname, memoryOut+"/"); ok && header.Typeflag == tar.TypeSymlink {
			header.Linkname = path.Join(buildOut, below)
		}
		return treeCopy.copyEntry(header, r)
	})
	if err != nil {
		return err
	}
	return treeCopy.addCollected()
}

// treeCopy copies entries of a tar into a layer, if the collector has a place for them.
type treeCopy struct {
	in        ecosystem.Install
	to        *layer
	top       string // prefix of the names
	collector ecosystem.Collector
	bytes     int64
	files     int
}

func newTreeCopy(install ecosystem.Install, to *layer, top string) *treeCopy {
	return &treeCopy{in: install, to: to, top: top, collector: install.Collector()}
}

func (c *treeCopy) copyEntry(header *tar.Header, r io.Reader) error {
	below, ok := strings.CutPrefix(cleanName(header.Name), c.top)
	if !ok {
		return nil // the folder itself
	}
	entry := ecosystem.Entry{Path: below}
	if header.Typeflag == tar.TypeSymlink {
		entry.Link = header.Linkname
	}
	to, ok := c.collector.Place(entry)
	if !ok {
		return nil
	}
	to.Path = strings.TrimPrefix(to.Path, "/")
	if c.files++; c.files > maxDepFiles {
		return company.E(company.EImage, fmt.Sprintf("the project's %s packages exceed %d files", c.in.Layer, maxDepFiles)).
			Fix("set container.deps: off")
	}
	switch header.Typeflag {
	case tar.TypeDir:
		return c.to.addDir(to.Path, 0)
	case tar.TypeReg:
		if c.bytes += header.Size; c.bytes > maxDeps {
			return company.E(company.EImage, fmt.Sprintf("the project's %s packages are larger than 4 GiB", c.in.Layer)).
				Fix("set container.deps: off")
		}
		return c.to.addStream(to.Path, fileMode(c.in, header.Mode), header.Size, r)
	case tar.TypeSymlink:
		return c.to.addLink(to.Path, to.Link)
	case tar.TypeLink: // another name of an earlier file
		target, ok := strings.CutPrefix(cleanName(header.Linkname), c.top)
		if first, placed := c.collector.Place(ecosystem.Entry{Path: target}); ok && placed {
			return c.to.addHardLink(to.Path, strings.TrimPrefix(first.Path, "/"))
		}
	}
	return nil
}

// addCollected adds the collector's notes and its own files.
func (c *treeCopy) addCollected() error {
	if n, ok := c.collector.(ecosystem.Noter); ok {
		c.to.notes = boundNotes(n.Notes())
	}
	return addFiles(c.to, c.collector.Files())
}

// fileMode returns the mode of a file in the image, given its original mode.
func fileMode(install ecosystem.Install, mode int64) int64 {
	switch {
	case install.ReadOnly:
		return 0o444
	case mode&0o111 != 0:
		return 0o755
	}
	return 0o644
}

func addFiles(l *layer, files []ecosystem.ImageFile) (err error) {
	for _, imageFile := range files {
		at := strings.TrimPrefix(imageFile.Path, "/")
		switch {
		case imageFile.Dir:
			err = l.addDir(at, 0)
		case imageFile.Link != "":
			err = l.addLink(at, imageFile.Link)
		default:
			err = l.addBytes(at, 0o644, imageFile.Text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
