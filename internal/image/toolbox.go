package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
	"syscall"

	"company/internal/company"
	"company/internal/dockerapi"

	cerrdefs "github.com/containerd/errdefs"
)

// ToolboxPath is where the toolbox lies in every worker image.
const ToolboxPath = "/usr/local/bin/toolbox"

// toolboxLayer is the kind of the layer with the toolbox.
const toolboxLayer = "toolbox"

func fillToolbox(bin []byte) writeLayerFunc {
	return func(_ context.Context, _ *existingImage, _ string, l *layer) error {
		return l.addBytes(strings.TrimPrefix(ToolboxPath, "/"), 0o755, bin)
	}
}

// toolboxBinary reads the toolbox once in the life of a Builder.
func (b *Builder) toolboxBinary() ([]byte, company.Hash, error) {
	b.toolboxOnce.Do(func() {
		bin, err := b.toolboxFor(arch)
		if err != nil {
			b.toolboxErr = layerError(toolboxLayer, err)
			return
		}
		sum := sha256.Sum256(bin)
		b.toolbox, b.toolboxHash = bin, company.Hash(hex.EncodeToString(sum[:]))
	})
	return b.toolbox, b.toolboxHash, b.toolboxErr
}

// FindLocal returns the id of a worker image on this daemon, by the image's key. It is empty
// where the image is not there, since people remove images behind our back. An id in place
// of a key finds itself.
//
// The toolbox of the image is always this program's. Images of open tasks outlast an update,
// and an older toolbox may lack a call, or mean something else by one. Such an image gets
// the new toolbox as a layer on top. All else in it stays what the task was prepared with.
func (b *Builder) FindLocal(ctx context.Context, key string) (id string, err error) {
	var f *existingImage
	if company.Hash(key).Valid() {
		f, err = b.findImage(ctx, layerStep{key: company.Hash(key), repository: workerRepository})
	} else {
		f, err = b.inspectImage(ctx, key)
	}
	if f == nil || err != nil {
		return "", err
	}
	bin, hash, err := b.toolboxBinary()
	if err != nil {
		return "", err
	}
	b.markUse(ctx, company.Hash(key), "")
	if f.toolbox == string(hash) {
		return f.id, nil
	}
	unlock, err := b.lockFile(ctx, buildsLock, syscall.LOCK_SH, "waiting for the removal of old images")
	if err != nil {
		return "", err
	}
	defer unlock()
	var beside sync.WaitGroup
	defer beside.Wait()
	step := layerStep{kind: toolboxLayer, key: hashKey(toolboxLayer, "on", f.id, string(hash)), repository: workerRepository,
		build: b.buildFromTar(fillToolbox(bin)), toolbox: hash, beside: &beside}
	renewed, err := b.ensureStep(ctx, f, step)
	if err != nil {
		return "", err
	}
	projects, _ := b.readUse(company.Hash(key))
	for _, mirror := range projects {
		b.markUse(ctx, step.key, mirror)
	}
	return renewed.id, nil
}

// inspectImage looks an image up by its id; nil without an error means that it is not there.
func (b *Builder) inspectImage(ctx context.Context, id string) (*existingImage, error) {
	info, err := b.docker.ImageInspect(ctx, id)
	if cerrdefs.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, dockerapi.WrapError("look for the image "+id, err)
	}
	return readImage(info), nil
}
