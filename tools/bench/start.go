package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	dockercontainer "github.com/docker/docker/api/types/container"

	"company/internal/agentrun/gateway"
	"company/internal/agentrun/sandbox"
	"company/internal/company"
	"company/internal/container/image"
	"company/internal/gitops"
	"company/internal/toolbox/toolproto"
)

// benchStart measures what a run waits for before its first turn: its
// container and its clone.
func benchStart(ctx context.Context, w *benchEnv) ([]Line, error) {
	if err := w.openDocker(ctx); err != nil {
		return nil, err
	}
	got, err := takeSamples(ctx, w.sampleCount(20, 1),
		func() (time.Duration, error) {
			began := time.Now()
			b, err := w.startContainer(ctx, w.image)
			took := time.Since(began)
			if err != nil {
				return 0, err
			}
			return took, b.close(ctx)
		},
		func() (time.Duration, error) {
			began := time.Now()
			id, err := w.createBare(ctx, false, "sleep", "60")
			if err == nil {
				err = w.raw.ContainerStart(ctx, id, dockercontainer.StartOptions{})
			}
			took := time.Since(began)
			if err != nil {
				return 0, err
			}
			return took, w.removeContainer(ctx, id)
		},
	)
	if err != nil {
		return nil, err
	}
	cold := compareLine("claim to container ready, cold", "create+start", got[0], got[1])
	warm, err := benchWarm(ctx, w)
	if err != nil {
		return nil, err
	}
	clones, err := benchClone(ctx, w)
	return append([]Line{cold.withTarget("≤ 1.3", cold.Ratio <= 1.3), warm.withTarget("≤ 10 ms", warm.Ours <= 10)},
		clones...), err
}

// benchWarm measures what a run waits for when a container is ready for it.
func benchWarm(ctx context.Context, w *benchEnv) (Line, error) {
	shop := &sandbox.Factory{Config: sandbox.Config{Runtime: w.rt, Office: w.office,
		Logger: slog.New(slog.DiscardHandler)}}
	defer shop.Close()
	shop.Warm(1, map[string]sandbox.Warmth{w.image: {Containers: 1}})
	got, err := takeSamples(ctx, w.sampleCount(20, 1), func() (time.Duration, error) {
		// The one before is being replaced; a run that comes now would wait for
		// it, and that wait is not measured.
		for shop.Warmed() == 0 {
			select {
			case <-ctx.Done():
				return 0, context.Cause(ctx)
			case <-time.After(5 * time.Millisecond):
			}
		}
		began := time.Now()
		end, err := shop.StartContainer(ctx, sandbox.Spec{Run: "t1-01.1", Role: company.Worker, Epoch: 1, Image: w.image})
		took := time.Since(began)
		if err != nil {
			return 0, err
		}
		end(ctx)
		return took, nil
	})
	if err != nil {
		return Line{}, err
	}
	return Line{What: "claim to container ready, warm", Unit: "ms", Ours: medianMillis(got[0]), Samples: len(got[0])}, nil
}

// project is a repository with a made-up history, the same each time, mirrored
// as the company mirrors the president's.
type project struct {
	store   *gitops.Store
	mirror  *gitops.Mirror
	commits []company.OID // oldest first
}

// benchClone measures a clone through a container's stdio against one from
// file:// on the host, and the rest of it when the history is in the image.
func benchClone(ctx context.Context, w *benchEnv) (lines []Line, err error) {
	p, err := w.openProject(ctx)
	if err != nil {
		return nil, err
	}
	n := len(p.commits)
	head, baked := p.commits[n-1], p.commits[n*3/4-1]
	img, err := w.images.Ensure(ctx, image.Request{Repo: &image.Repo{MirrorDir: p.mirror.Dir(), Commit: baked}})
	if err != nil {
		return nil, err
	}
	defer func() {
		_, perr := w.images.Prune(context.WithoutCancel(ctx), func(e image.ImageEntry) bool {
			return e.Tag == img.Tag || strings.HasSuffix(e.Tag, ":repo-"+string(img.Layers[len(img.Layers)-1].Key))
		})
		err = errors.Join(err, perr)
	}()

	b, err := w.startContainer(ctx, w.image)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close(ctx)) }()
	served, err := p.serveRun(ctx, b, "t2-01.1", head)
	if err != nil {
		return nil, err
	}
	defer served.close()
	// The container's work space is in memory; so is the host's clone, where
	// the host has room.
	memory, err := os.MkdirTemp("/dev/shm", "company-bench-")
	if err != nil {
		memory = w.dir
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(memory)) }()
	}
	got, err := takeSamples(ctx, w.sampleCount(7, 1),
		func() (time.Duration, error) {
			began := time.Now()
			err := b.run(ctx, fmt.Sprintf("git clone -q http://127.0.0.1:%d%s /work/c", gatewayPort, served.gate.Path()))
			took := time.Since(began)
			return took, errors.Join(err, b.run(ctx, "rm -rf /work/c"))
		},
		func() (time.Duration, error) { return p.measureFileClone(ctx, w, memory, served.quarantine.Dir()) },
	)
	if err != nil {
		return nil, err
	}
	full := compareLine("the same by git clone in the container", "file:// on the host", got[0], got[1])

	prepare := func(imageID string, base company.OID) func() (time.Duration, error) {
		return func() (time.Duration, error) { return p.measurePrepare(ctx, w, imageID, base, false) }
	}
	prepareReady := func(base company.OID) func() (time.Duration, error) {
		return func() (time.Duration, error) { return p.measurePrepare(ctx, w, img.ID, base, true) }
	}
	seeded, err := takeSamples(ctx, w.sampleCount(7, 1), prepare(w.image, head),
		func() (time.Duration, error) { return p.measureFileClone(ctx, w, memory, served.quarantine.Dir()) })
	if err != nil {
		return nil, err
	}
	clone := compareLine(fmt.Sprintf("clone through the pipe, %d commits", n), "file:// on the host", seeded[0], seeded[1])
	lines = append(lines, clone.withTarget("≤ 0.9", clone.Ratio <= 0.9), full)
	got, err = takeSamples(ctx, w.sampleCount(7, 1), prepareReady(baked), prepareReady(head), prepare(img.ID, baked),
		prepare(img.ID, p.commits[n*7/8-1]), prepare(img.ID, head))
	if err != nil {
		return nil, err
	}
	half, all := fmt.Sprintf("%d commits", n*7/8-n*3/4), fmt.Sprintf("%d commits", n-n*3/4)
	for i, what := range []string{"laid out, delta of no commit", "laid out, delta of " + all,
		"history baked, delta of no commit", "history baked, delta of " + half, "history baked, delta of " + all} {
		l := Line{What: "workspace, " + what, Unit: "ms", Ours: medianMillis(got[i]), Against: "full clone", Bare: clone.Ours,
			Samples: len(got[i])}
		l.Ratio = l.Ours / l.Bare
		if i == 0 || i == 2 {
			l = l.withTarget("≤ 30 ms", l.Ours <= 30)
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// measureFileClone is the time of a clone by git on the host.
func (p *project) measureFileClone(ctx context.Context, w *benchEnv, below, from string) (time.Duration, error) {
	dir := filepath.Join(below, "clone")
	began := time.Now()
	_, err := runGit(ctx, w.dir, nil, "clone", "-q", "file://"+from, dir)
	took := time.Since(began)
	return took, errors.Join(err, os.RemoveAll(dir))
}

// measurePrepare is the time that a fresh container takes to have the work tree of base; one
// that is laid out has that of the image's commit by then.
func (p *project) measurePrepare(
	ctx context.Context, w *benchEnv, imageID string, base company.OID, layOut bool,
) (took time.Duration, err error) {
	b, err := w.startContainer(ctx, imageID)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, b.close(ctx)) }()
	run := company.RunID(fmt.Sprintf("t3-01.%d", w.n))
	served, err := p.serveRun(ctx, b, run, base)
	if err != nil {
		return 0, err
	}
	defer served.close()
	if layOut {
		if _, err := b.tools.LayOut(ctx, image.RepoPath); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	seeded, err := sandbox.SendClone(ctx, b.tools, served.quarantine, image.RepoPath)
	if err != nil {
		return 0, err
	}
	_, err = b.tools.Prepare(ctx, toolproto.PrepareRequest{
		Seeded: seeded, CloneURL: fmt.Sprintf("http://127.0.0.1:%d%s", gatewayPort, served.gate.Path()),
		Baked:   image.RepoPath,
		BaseOID: string(base), Branch: gitops.BranchName("t3-01", "bench"), AuthorName: "bench",
		AuthorEmail: "bench@localhost",
	})
	return time.Since(began), err
}

// served is a run's quarantine repository, served into a container.
type served struct {
	quarantine *gitops.Quarantine
	gate       *gateway.Gateway
	serving    sync.WaitGroup
	drop       func()
}

func (p *project) serveRun(
	ctx context.Context, b *benchContainer, run company.RunID, base company.OID,
) (*served, error) {
	q, err := p.store.Quarantine(ctx, p.mirror, run, base, nil)
	if err != nil {
		return nil, err
	}
	// all of it goes with the world
	s := &served{quarantine: q, drop: func() { _ = p.store.DropQuarantine(context.WithoutCancel(ctx), run) }}
	ticket, err := gitops.Ticket(run)
	if err != nil {
		return nil, err
	}
	if s.gate,
		err = gateway.New(
		gateway.Config{Quarantine: q, Run: run, Ticket: ticket, ReadOnly: true, Logger: b.w.Logger}); err != nil {
		return nil, err
	}
	s.serving.Go(func() { _ = s.gate.Serve(b.session) }) // it ends with Close
	return s, nil
}

func (s *served) close() {
	_ = s.gate.Close() // a listener that is gone already
	s.serving.Wait()
	s.drop()
}

// openProject makes the repository, once.
func (w *benchEnv) openProject(ctx context.Context) (*project, error) {
	var err error
	if w.project == nil {
		w.project, err = w.newProject(ctx, w.sampleCount(400, 8))
	}
	return w.project, err
}

func (w *benchEnv) newProject(ctx context.Context, commits int) (*project, error) {
	dir := filepath.Join(w.dir, "project")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if _, err := runGit(ctx, dir, nil, "init", "-q", "-b", "main"); err != nil {
		return nil, err
	}
	if _, err := runGit(ctx, dir, historyStream(commits), "fast-import", "--quiet"); err != nil {
		return nil, err
	}
	out, err := runGit(ctx, dir, nil, "rev-list", "--reverse", "main")
	if err != nil {
		return nil, err
	}
	p := &project{}
	for id := range strings.FieldsSeq(out) {
		p.commits = append(p.commits, company.OID(id))
	}
	if p.store, err = gitops.Open(gitops.Config{Root: filepath.Join(w.dir, "git")}); err != nil {
		return nil, err
	}
	if p.mirror, err = p.store.Mirror(ctx, "project", dir); err != nil {
		return nil, err
	}
	_, err = p.mirror.FetchBase(ctx, nil, gitops.Source{Path: dir}, "main")
	return p, err
}

// historyStream is a stream for git fast-import, always the same: 1000 files of 60
// lines, and in each commit after the first three lines changed in 25 of them.
func historyStream(commits int) *bytes.Buffer {
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields(
		"the company works in containers and func return if err nil context string package import type struct for range " +
			"map test")
	line := func() string {
		return fmt.Sprintf("%s %s %s %x", words[r.IntN(len(words))], words[r.IntN(len(words))], words[r.IntN(len(words))],
			r.Uint32())
	}
	files := make([][]string, 1000)
	for i := range files {
		for range 60 {
			files[i] = append(files[i], line())
		}
	}
	var b bytes.Buffer
	write := func(f int) {
		text := strings.Join(files[f], "\n") + "\n"
		fmt.Fprintf(&b, "M 100644 inline d%02d/f%03d.txt\ndata %d\n%s\n", f%40, f, len(text), text)
	}
	for n := range commits {
		msg := fmt.Sprintf("change %d\n", n)
		fmt.Fprintf(&b, "commit refs/heads/main\ncommitter Ann <ann@example.org> %d +0000\ndata %d\n%s", 1_700_000_000+n,
			len(msg), msg)
		if n == 0 {
			for f := range files {
				write(f)
			}
			continue
		}
		for _, f := range r.Perm(len(files))[:25] {
			for range 3 {
				files[f][r.IntN(60)] = line()
			}
			write(f)
		}
	}
	return &b
}
