package image

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/depproxy"
	"company/internal/ecosystem"
)

// hostFolder is this host as an ecosystem's own client fetches on it.
type hostFolder struct {
	b        *Builder
	access   *registryAccess
	registry string // its kind
	places   ecosystem.FetchPlaces

	stallAfter time.Duration
}

// fillFetched has a client of this host fill a folder, and takes out of it what the
// ecosystem has a place for. It happens on the host where the client needs the
// operator's own settings; nothing but the text of lock files is there, so no code
// can run.
//
// Where a policy holds the client asks us, and so it does where the operator logs in
// at registries, or calls packages private, and the repository may not use that.
func (b *Builder) fillFetched(in ecosystem.Install, req Request, tree hostTree) writeLayerFunc {
	return func(ctx context.Context, _ *existingImage, work string, l *layer) error {
		if err := b.fetchTree(ctx, req, tree); err != nil {
			return err
		}
		h, stop, err := b.openHostFolder(in, req, work)
		if err != nil {
			return err
		}
		defer stop()
		if tree.wanted != "" {
			h.places.Toolchain = tree.dir
		}
		if err := h.fetch(ctx, in); err != nil {
			var e *company.Error
			if errors.As(err, &e) && isPermanent(0, err.Error(), in.Says.Permanent) {
				err = e.NeedsPerson()
			}
			return h.access.explainError(err)
		}
		return collectFolder(l, in, h.places.Out)
	}
}

// stallAfter is how long a client may bring no file before its registry is asked whether
// it answers: some clients wait for a silent one without a bound.
const stallAfter = 8 * time.Second

// fetch has the client fetch, and ends it when its registry is away.
func (h *hostFolder) fetch(ctx context.Context, in ecosystem.Install) error {
	ctx, stop := h.access.watchStep(ctx)
	defer stop()
	var watcher sync.WaitGroup
	ended := make(chan struct{})
	watcher.Go(func() {
		_ = company.Guard("watching a client of this host", func() error {
			h.watchStall(ctx, ended)
			return nil
		})
	})
	err := in.Fetch(ctx, h)
	close(ended)
	watcher.Wait()
	if errors.Is(context.Cause(ctx), errRegistryAway) {
		return company.E(company.EImage, in.What+" cannot be fetched").Wrap(errRegistryAway)
	}
	return err
}

// watchStall asks the registry whether it answers each time that the client has brought
// nothing for a while.
func (h *hostFolder) watchStall(ctx context.Context, ended <-chan struct{}) {
	for had := -1; ; {
		select {
		case <-ended:
			return
		case <-ctx.Done():
			return
		case <-time.After(h.stallAfter):
		}
		has := countFiles(h.places.Out)
		if has == had || had < 0 && has == 0 {
			h.checkRegistry(ctx)
		}
		had = has
	}
}

// checkRegistry notes that the registry of a client is away. It does nothing where the client
// asks a mirror of ours, which knows.
func (h *hostFolder) checkRegistry(ctx context.Context) {
	if h.places.Mirror != "" || h.access.store == nil {
		return
	}
	if failure := h.access.store.CheckRegistry(ctx, h.registry); failure != nil {
		h.access.noteFailure(*failure)
	}
}

// countFiles counts the files below a folder.
func countFiles(dir string) (n int) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			n++
		}
		return nil
	})
	return n
}

// openHostFolder makes the folders of a fetch, and serves a mirror where the client
// has to ask one.
func (b *Builder) openHostFolder(in ecosystem.Install, req Request, work string) (h *hostFolder, stop func(), err error) {
	access := &registryAccess{store: b.registryStore(req)}
	if !in.Own {
		access.policy = req.Repo.Policy
	}
	if access.policy == nil && b.withLogins != nil && !req.UseLogins {
		access.policy = depproxy.NewOpenPolicy(in.Registry)
	}
	user, _ := os.UserHomeDir()
	h = &hostFolder{b: b, access: access, registry: in.Registry, stallAfter: stallAfter, places: ecosystem.FetchPlaces{
		Source: filepath.Join(work, "src"), Home: work, Out: filepath.Join(work, "fetched"), User: user, UseLogins: req.UseLogins,
	}}
	for _, dir := range []string{h.places.Source, h.places.Out} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, nil, err
		}
	}
	if access.policy == nil {
		return h, func() {}, nil
	}
	h.places.Mirror, stop, err = serveHost(access)
	return h, stop, err
}

// Places are the folders of one fetch.
func (h *hostFolder) Places() ecosystem.FetchPlaces { return h.places }

// Stage writes the texts of lock files, unless they name packages that are not for
// this repository.
func (h *hostFolder) Stage(files map[string][]byte) error {
	if err := checkWithheld(h.access.store, files); err != nil {
		return err
	}
	for name, text := range files {
		if err := writeBelow(h.places.Source, name, text); err != nil {
			return err
		}
	}
	return nil
}

// Write writes a file of the client's.
func (h *hostFolder) Write(name string, text []byte) error {
	return writeBelow(h.places.Home, name, text)
}

func writeBelow(dir, name string, text []byte) error {
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// Ask gives the answer of a program in the operator's own environment.
func (h *hostFolder) Ask(ctx context.Context, env []string, argv ...string) (string, error) {
	return askHost(ctx, env, argv...)
}

// Run gives the answer of a program in an environment that is given whole.
func (h *hostFolder) Run(ctx context.Context, dir string, env []string, argv ...string) (string, error) {
	var out bytes.Buffer
	err := runTool(ctx, dir, env, &out, argv...)
	return out.String(), err
}

// Getenv is a variable of the operator's.
func (h *hostFolder) Getenv(name string) (string, bool) { return os.LookupEnv(name) }

// ReportProgress tells people what takes time.
func (h *hostFolder) ReportProgress(format string, args ...any) {
	h.b.reportProgress(format, args...)
}

// Log keeps an error in the log.
func (h *hostFolder) Log(ctx context.Context, message string, err error) {
	h.b.log.InfoContext(ctx, message, "err", err)
}

// Explain gives a client's failure with our refusal of a package, or with what its registry
// failed at.
func (h *hostFolder) Explain(ctx context.Context, err error) error {
	h.checkRegistry(ctx)
	return h.access.explainError(err)
}

// collectFolder copies files of a folder of this host into a layer.
func collectFolder(l *layer, in ecosystem.Install, dir string) error {
	c := in.Collector()
	err := filepath.WalkDir(dir, func(host string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, host)
		if err != nil || rel == "." {
			return err
		}
		to, ok := c.Place(ecosystem.Entry{Path: filepath.ToSlash(rel)})
		at := strings.TrimPrefix(to.Path, "/")
		switch {
		case !ok && e.IsDir():
			return filepath.SkipDir
		case !ok:
			return nil
		case e.IsDir():
			return l.addDir(at, 0)
		case e.Type().IsRegular():
			return l.addHostFile(at, fileMode(in, 0), host)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if n, ok := c.(ecosystem.Noter); ok {
		l.notes = boundNotes(n.Notes())
	}
	return addFiles(l, c.Files())
}

// checkWithheld refuses modules by their names that are not for this
// repository, before any request for them: a proxy on this host's disk asks for
// no password.
func checkWithheld(store *depproxy.Store, texts map[string][]byte) error {
	if store == nil {
		return nil
	}
	named, _ := depproxy.ParseLocks(texts)
	for _, d := range named {
		if err := store.Upstreams().WhyPrivate(d); err != nil {
			return err
		}
	}
	return nil
}

// serveHost serves packages within a policy to a client of this host, at an
// address that cannot be guessed.
func serveHost(fetch *registryAccess) (address string, stop func(), err error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	prefix := "/" + rand.Text()
	web := &http.Server{Handler: http.StripPrefix(prefix, fetch.newHandler()), ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = web.Serve(l)
	}()
	return "http://" + l.Addr().String() + prefix, func() {
		_ = web.Close()
		<-done
	}, nil
}

// runTool runs a program of the host with an environment that is given whole,
// and returns what it printed. The error carries the end of its messages.
func runTool(ctx context.Context, dir string, env []string, stdout io.Writer, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout = dir, env, stdout
	var messages bytes.Buffer
	cmd.Stderr = &messages
	killGroup(cmd)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		text := strings.TrimSpace(messages.String())
		if len(text) > 2048 {
			text = "… " + text[len(text)-2048:]
		}
		return fmt.Errorf("%s: %w: %s", filepath.Base(argv[0]), err, text)
	}
	return nil
}
