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
	"company/internal/container/dockerapi"
	"company/internal/lib/safedir"

	cerrdefs "github.com/containerd/errdefs"
	dockerimage "github.com/docker/docker/api/types/image"
)

const (
	workerRepository = "company/worker" // complete images
	layerRepository  = "company/layer"  // single layers

	labelKind    = container.LabelImage   // kind of the topmost layer; every image and build container of ours has it
	labelKey     = "company.image.key"    // key of the topmost layer
	labelLayers  = "company.image.layers" // kind=key,… from the bottom up
	labelHosts   = container.LabelHosts
	labelNotes   = "company.image.notes"   // missing parts of layers, from the bottom up, as a JSON list
	labelToolbox = "company.image.toolbox" // hash of its toolbox
	// user, folder and shell of the base image of a Dockerfile: JSON in base64
	labelFrom = "company.image.from"

	// recipeVersion is part of every key. Increase it whenever a layer is built differently, so that
	// existing images are not reused.
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
	why        string                  // the source of the layer, for people
	fetched    bool                    // it fetches a toolchain version that this host does not have
	registry   string                  // the kind of registry that its packages come from; "" if from none
	env        func([]string) []string // changes the environment of the image; may be nil
	notes      []string                // missing parts, set once the layer is built
	hosts      []string                // host names of its services
	toolbox    company.Hash            // hash of the toolbox that it adds
	beside     *sync.WaitGroup         // work that continues while the layers above are built
	rest       *sync.WaitGroup         // removal of this layer's temporary files
}

// buildFunc builds the image of a step. work is an empty directory that is removed afterwards.
type buildFunc func(ctx context.Context, under *existingImage, s layerStep, work string) (*existingImage, error)

func newLayerStep(kind string, under layerStep, build buildFunc, inputs ...string) layerStep {
	return layerStep{kind: kind, key: hashKey(append([]string{kind, string(under.key)}, inputs...)...),
		repository: layerRepository, build: build}
}

// hashKey returns a hash that differs for different lists of strings.
func hashKey(parts ...string) company.Hash {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s\n", recipeVersion, arch)
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s\n", len(p), p)
	}
	return company.Hash(hex.EncodeToString(h.Sum(nil)))
}

// uniqueName returns a name that is unique to the layer and short enough for files and containers.
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
	notes   []string // missing parts of its layers
	hosts   string   // the label
	toolbox string   // the label
	from    string   // the label with the settings of a Dockerfile's base
}

func (f *existingImage) toImage(s layerStep, notes []string) Image {
	if f == nil {
		return Image{}
	}
	return Image{ID: f.id, Tag: s.imageTag(), Key: s.key, Notes: append(slices.Clone(notes), f.notes...),
		Layers: parseLayers(f.layers)}
}

// parseLayers parses the label that lists the layers.
func parseLayers(label string) []Layer {
	var out []Layer
	for entry := range strings.SplitSeq(label, ",") {
		if kind, key, ok := strings.Cut(entry, "="); ok {
			out = append(out, Layer{Kind: kind, Key: company.Hash(key)})
		}
	}
	return out
}

// findImage looks up a layer by its tag. It returns nil without an error if there is no such image,
// and EImage if another image has the tag without our label.
func (b *Builder) findImage(ctx context.Context, s layerStep) (*existingImage, error) {
	info, err := b.docker.ImageInspect(ctx, s.imageTag())
	if cerrdefs.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, dockerapi.WrapError("look for the image "+s.imageTag(), err)
	}
	if info.Config == nil || info.Config.Labels[labelKey] != string(s.key) {
		return nil, company.E(company.EImage, "another image has the name "+s.imageTag()).
			Fix("remove it: docker image rm " + s.imageTag())
	}
	return readImage(info), nil
}

// readImage converts the daemon's description of an image of ours.
func readImage(info dockerimage.InspectResponse) *existingImage {
	image := &existingImage{id: info.ID, diffIDs: info.RootFS.Layers, size: info.Size}
	if c := info.Config; c != nil {
		image.env = c.Env
		image.layers = c.Labels[labelLayers]
		image.notes = parseNotes(c.Labels[labelNotes])
		image.hosts = c.Labels[labelHosts]
		image.toolbox = c.Labels[labelToolbox]
		image.from = c.Labels[labelFrom]
	}
	return image
}

// ensureSteps finds or builds layers, from the bottom up, and returns the topmost. The temporary files
// of a layer are removed while the layers above it are built. They are not removed while the daemon
// reads that layer, because file systems create files slowly while many others are removed.
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

// ensureStep finds or builds one layer. If several builders in this or other processes need the same
// layer, one builds it and the others wait. The lock and the work directory are kept until the
// temporary files of the build are removed. If a builder is killed, the directory leads to its
// container.
func (b *Builder) ensureStep(ctx context.Context, under *existingImage, s layerStep) (*existingImage, error) {
	if f, err := b.findImage(ctx, s); err != nil || f != nil {
		return f, err
	}
	unlock, err := b.lockLayer(ctx, s.uniqueName())
	if err != nil {
		return nil, err
	}
	if image, err := b.findImage(ctx, s); err != nil || image != nil {
		unlock()
		return image, err
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

// openWorkDir creates an empty directory for work under the lock with this name.
func (b *Builder) openWorkDir(name string) (work string, remove func(), err error) {
	// The name comes from the key and we hold the lock, so an existing
	// directory was left by a builder that was killed.
	work = filepath.Join(b.dir, "tmp", name)
	if err := removeTree(work); err != nil {
		return "", nil, company.E(company.EImage, "cannot remove the leftovers of an earlier build").Wrap(err)
	}
	if err := os.MkdirAll(work, 0o700); err != nil {
		return "", nil, company.E(company.EImage, "cannot create a temporary directory for an image").Wrap(err)
	}
	return work, func() {
		if err := removeTree(work); err != nil {
			b.log.Warn("temporary files of an image build stay", "dir", work, "err", err)
		}
	}, nil
}

// buildFromTar builds a layer from a tar that fill writes.
func (b *Builder) buildFromTar(fill writeLayerFunc) buildFunc {
	return func(ctx context.Context, under *existingImage, s layerStep, work string) (*existingImage, error) {
		layer, err := newLayer(filepath.Join(work, "layer.tar"))
		if err != nil {
			return nil, err
		}
		defer layer.finishLayer(s.rest)
		if err := fill(ctx, under, work, layer); err != nil {
			return nil, err
		}
		if err := layer.close(); err != nil {
			return nil, err
		}
		s.notes = layer.notes
		began := time.Now()
		made, err := b.applyLayer(ctx, under, s, layer)
		b.log.DebugContext(ctx, "the daemon has a layer", "layer", s.kind, "bytes", layer.size, "took", time.Since(began))
		return made, err
	}
}

// layerError ensures that errors which leave the package have a code. It marks those about a host that this
// machine does not reach, so that the president is asked at once: it was tried several times.
func layerError(kind string, err error) error {
	var known *company.Error
	switch {
	case errors.As(err, &known):
		if known.Code == company.EImage && known.Class == "" && isHostUnreachable(known) {
			return askAboutHost(known)
		}
		return err
	case errors.Is(err, context.Canceled):
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return company.E(company.ETimeout, "preparing the "+kind+" layer of the worker image took too long").Wrap(err).
			Fix("try again; finished steps are kept")
	}
	if errors.Is(err, syscall.ENOSPC) {
		return company.E(company.EImage, "the disk is full").Wrap(err).Fix("free some space, then try again")
	}
	fault := company.E(company.EImage, "the "+kind+" layer of the worker image cannot be built").Wrap(err)
	if isHostUnreachable(fault) {
		return askAboutHost(fault)
	}
	return fault
}

func isHostUnreachable(fault *company.Error) bool {
	return isUnreachable(fault) || saysUnreachable(fault.Error()+"\n"+fault.Details)
}

// askAboutHost returns an error that is not retried before the president says so.
func askAboutHost(fault *company.Error) *company.Error {
	hint := "nothing was changed, and company approve tries again once this machine reaches the host"
	if fault.Hint != "" {
		hint += "; " + fault.Hint
	}
	return fault.Fix(hint).NeedsPerson()
}

// lockLayer locks one layer across goroutines and processes. Every caller opens its own file, since
// flock belongs to an open file. A blocking flock cannot be cancelled, so lockLayer polls.
func (b *Builder) lockLayer(ctx context.Context, name string) (unlock func(), err error) {
	return b.lockFile(ctx, name, syscall.LOCK_EX, "waiting for another builder of the same layer")
}

// lockFile acquires a named lock, exclusive or shared. If another holder has it, waiting is reported
// once as progress, unless it is empty.
func (b *Builder) lockFile(ctx context.Context, name string, how int, waiting string) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(b.dir, "locks", name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, company.E(company.EImage, "cannot open the lock of an image layer").Wrap(err)
	}
	said := false
	for {
		err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = safedir.Unlock(file) }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = file.Close()
			return nil, company.E(company.EImage, "cannot lock an image layer").Wrap(err)
		}
		if !said && waiting != "" {
			said = true
			b.reportProgress("%s", waiting)
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

var errMountedBelow = errors.New("mount points exist below")

// mountsFile lists the mounts of this process. Tests replace it.
var mountsFile = "/proc/self/mountinfo"

// removeTree deletes a directory unless mount points exist below it. A killed mmdebstrap must never make
// us delete the host's /dev or /proc.
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
