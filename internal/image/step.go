package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/dockerapi"
	"company/internal/folder"

	cerrdefs "github.com/containerd/errdefs"
	dockerimage "github.com/docker/docker/api/types/image"
)

const (
	workerRepository = "company/worker" // whole images
	layerRepository  = "company/layer"  // what they are stacked from

	labelKind    = container.LabelImage   // kind of the topmost layer; every image and build container of ours has it
	labelKey     = "company.image.key"    // key of the topmost layer
	labelLayers  = "company.image.layers" // kind=key,… from the bottom up
	labelHosts   = container.LabelHosts
	labelNotes   = "company.image.notes"   // what layers lack, from the bottom up, as a list of JSON
	labelToolbox = "company.image.toolbox" // hash of the toolbox in it
	labelFrom    = "company.image.from"    // the user, folder and shell of an image that a Dockerfile starts from: JSON in base64

	// recipeVersion is part of every key. It goes up whenever the way a layer is made
	// changes, so that no older image is taken for a new one.
	recipeVersion = "1"

	arch = runtime.GOARCH
)

// writeLayerFunc writes the tar of one layer.
type writeLayerFunc func(ctx context.Context, under *existingImage, work string, l *layer) error

// layerStep is one layer of a plan.
type layerStep struct {
	kind       string
	key        company.Hash
	repository string
	build      buildFunc
	why        string                  // its source, for people
	fetched    bool                    // it is a version of a toolchain that this host does not have
	env        func([]string) []string // what it changes in the environment of the image; nil = nothing
	notes      []string                // what it lacks, once it is made
	hosts      []string                // names of hosts that its services have
	toolbox    company.Hash            // of the toolbox that it brings
	beside     *sync.WaitGroup         // of what goes on while the layers above are made
	rest       *sync.WaitGroup         // of what is removed of this layer then
}

// buildFunc makes the image of a step; work is an empty directory that is
// removed afterwards.
type buildFunc func(ctx context.Context, under *existingImage, s layerStep, work string) (*existingImage, error)

func newLayerStep(kind string, under layerStep, build buildFunc, inputs ...string) layerStep {
	return layerStep{kind: kind, key: hashKey(append([]string{kind, string(under.key)}, inputs...)...), repository: layerRepository, build: build}
}

// hashKey hashes strings so that no two lists of strings share a key.
func hashKey(parts ...string) company.Hash {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s\n", recipeVersion, arch)
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s\n", len(p), p)
	}
	return company.Hash(hex.EncodeToString(h.Sum(nil)))
}

// uniqueName is unique to a layer and short enough for files and containers.
func (s layerStep) uniqueName() string { return s.kind + "-" + string(s.key[:20]) }

func (s layerStep) imageTag() string {
	if s.repository == workerRepository {
		return workerRepository + ":" + string(s.key)
	}
	return layerRepository + ":" + s.kind + "-" + string(s.key)
}

// existingImage is an image of ours in the daemon's store.
type existingImage struct {
	id      string
	env     []string
	layers  string   // the label
	diffIDs []string // from the bottom up
	size    int64    // bytes, all layers
	notes   []string // what its layers lack
	hosts   string   // the label
	toolbox string   // the label
	from    string   // the label of a base that a Dockerfile starts from
}

func (f *existingImage) toImage(s layerStep, notes []string) Image {
	if f == nil {
		return Image{}
	}
	return Image{ID: f.id, Tag: s.imageTag(), Key: s.key, Notes: append(slices.Clone(notes), f.notes...), Layers: parseLayers(f.layers)}
}

// parseLayers reads the label that lists them.
func parseLayers(label string) []Layer {
	var out []Layer
	for entry := range strings.SplitSeq(label, ",") {
		if kind, key, ok := strings.Cut(entry, "="); ok {
			out = append(out, Layer{Kind: kind, Key: company.Hash(key)})
		}
	}
	return out
}

// findImage looks a layer up by its tag; nil without an error means that it is not
// there. An image that bears the tag but not the label is not ours.
func (b *Builder) findImage(ctx context.Context, s layerStep) (*existingImage, error) {
	info, err := b.docker.ImageInspect(ctx, s.imageTag())
	if cerrdefs.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, dockerapi.WrapError("look for the image "+s.imageTag(), err)
	}
	if info.Config == nil || info.Config.Labels[labelKey] != string(s.key) {
		return nil, company.E(company.EImage, "another image has the name "+s.imageTag()).Fix("remove it: docker image rm " + s.imageTag())
	}
	return readImage(info), nil
}

// readImage reads what the daemon says of an image of ours.
func readImage(info dockerimage.InspectResponse) *existingImage {
	f := &existingImage{id: info.ID, diffIDs: info.RootFS.Layers, size: info.Size}
	if c := info.Config; c != nil {
		f.env, f.layers, f.notes = c.Env, c.Labels[labelLayers], parseNotes(c.Labels[labelNotes])
		f.hosts, f.toolbox, f.from = c.Labels[labelHosts], c.Labels[labelToolbox], c.Labels[labelFrom]
	}
	return f
}

// ensureSteps finds or makes layers, from the bottom up, and gives the topmost. What is
// left over of one is removed beside those above it, and not beside its own taking by the
// daemon: file systems are slow at making files beside many that are removed.
func (b *Builder) ensureSteps(ctx context.Context, steps []layerStep) (top *existingImage, err error) {
	var beside sync.WaitGroup
	defer beside.Wait()
	for _, s := range steps {
		s.beside = &beside
		if top, err = b.ensureStep(ctx, top, s); err != nil {
			return nil, err
		}
	}
	return top, nil
}

// ensureStep finds or makes one layer. Of several builders of one layer, in
// this process or another, one builds and the others wait. Lock and work directory stay
// until nothing is left of the build: by the directory a killed builder's container is
// found.
func (b *Builder) ensureStep(ctx context.Context, under *existingImage, s layerStep) (*existingImage, error) {
	if f, err := b.findImage(ctx, s); err != nil || f != nil {
		return f, err
	}
	unlock, err := b.lockLayer(ctx, s.uniqueName())
	if err != nil {
		return nil, err
	}
	if f, err := b.findImage(ctx, s); err != nil || f != nil {
		unlock()
		return f, err
	}

	work, remove, err := b.openWorkDir(s.uniqueName())
	if err != nil {
		unlock()
		return nil, err
	}
	s.rest = &sync.WaitGroup{}
	defer s.beside.Go(func() {
		defer unlock()
		_ = company.Guard("clearing up after a layer", func() error {
			s.rest.Wait()
			remove()
			return nil
		})
	})
	start := time.Now()
	estimate := ""
	if !hasOwnEstimate(s.kind) {
		estimate = b.estimateStep(s.kind, "")
	}
	b.reportProgress("preparing the %s layer of the worker image%s", s.kind, estimate)
	f, err := s.build(ctx, under, s, work)
	if err != nil {
		return nil, layerError(s.kind, err)
	}
	took := time.Since(start)
	b.reportProgress("the %s layer is ready (%s)", s.kind, took.Round(100*time.Millisecond))
	b.noteTook(ctx, s.kind, took)
	b.onBuilt(Layer{Kind: s.kind, Key: s.key}, took)
	return f, nil
}

// openWorkDir makes an empty directory for work that is locked by this name.
func (b *Builder) openWorkDir(name string) (work string, remove func(), err error) {
	// Names are made from keys and the lock is ours, so what lies here is
	// left from a builder that was killed.
	work = filepath.Join(b.dir, "tmp", name)
	if err := removeTree(work); err != nil {
		return "", nil, company.E(company.EImage, "the rest of an earlier build cannot be removed").Wrap(err)
	}
	if err := os.MkdirAll(work, 0o700); err != nil {
		return "", nil, company.E(company.EImage, "no temporary directory for an image").Wrap(err)
	}
	return work, func() {
		if err := removeTree(work); err != nil {
			b.log.Warn("temporary files of an image build stay", "dir", work, "err", err)
		}
	}, nil
}

// buildFromTar makes a layer from a tar that fill writes.
func (b *Builder) buildFromTar(fill writeLayerFunc) buildFunc {
	return func(ctx context.Context, under *existingImage, s layerStep, work string) (*existingImage, error) {
		l, err := newLayer(filepath.Join(work, "layer.tar"))
		if err != nil {
			return nil, err
		}
		defer l.finishLayer(s.rest)
		if err := fill(ctx, under, work, l); err != nil {
			return nil, err
		}
		if err := l.close(); err != nil {
			return nil, err
		}
		s.notes = l.notes
		began := time.Now()
		made, err := b.applyLayer(ctx, under, s, l)
		b.log.DebugContext(ctx, "the daemon has a layer", "layer", s.kind, "bytes", l.size, "took", time.Since(began))
		return made, err
	}
}

// layerError makes sure that what leaves the package has a code.
func layerError(kind string, err error) error {
	var known *company.Error
	if errors.As(err, &known) || errors.Is(err, context.Canceled) {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return company.E(company.ETimeout, "preparing the "+kind+" layer of the worker image took too long").Wrap(err).Fix("try again; what is done already is kept")
	}
	if errors.Is(err, syscall.ENOSPC) {
		return company.E(company.EImage, "the disk is full").Wrap(err).Fix("free some space, then try again")
	}
	return company.E(company.EImage, "the "+kind+" layer of the worker image cannot be made").Wrap(err)
}

// lockLayer takes the lock of one layer across goroutines and processes: flock is
// held by an open file, and every caller opens its own. Flock itself cannot be
// cancelled, so it is tried again and again.
func (b *Builder) lockLayer(ctx context.Context, name string) (unlock func(), err error) {
	return b.lockFile(ctx, name, syscall.LOCK_EX, "waiting for another builder of the same layer")
}

// lockFile takes a lock by its name, for one holder or shared. waiting is the line of
// progress where somebody else has it; an empty one is not told.
func (b *Builder) lockFile(ctx context.Context, name string, how int, waiting string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(b.dir, "locks", name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, company.E(company.EImage, "the lock of an image layer cannot be opened").Wrap(err)
	}
	said := false
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = folder.Unlock(f) }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = f.Close()
			return nil, company.E(company.EImage, "an image layer cannot be locked").Wrap(err)
		}
		if !said && waiting != "" {
			said = true
			b.reportProgress("%s", waiting)
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

var errMountedBelow = errors.New("there are mounts below")

// mountsFile lists the mounts of this process. Tests have their own.
var mountsFile = "/proc/self/mountinfo"

// removeTree deletes a directory unless something is mounted below it: a
// killed mmdebstrap must never make us delete the host's /dev or /proc.
func removeTree(dir string) error {
	mounts, err := os.ReadFile(mountsFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) { // no /proc: no mmdebstrap either
		return err
	}
	if strings.Contains(string(mounts), " "+dir+"/") {
		return fmt.Errorf("%w %s", errMountedBelow, dir)
	}
	return os.RemoveAll(dir)
}
