package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
	"syscall"

	"company/internal/company"
	"company/internal/container/dockerapi"

	cerrdefs "github.com/containerd/errdefs"
)

// ToolboxPath is the path of the toolbox in every worker image.
const ToolboxPath = "/usr/local/bin/toolbox"

// toolboxLayer is the kind of the layer with the toolbox.
const toolboxLayer = "toolbox"

func fillToolbox(bin []byte) writeLayerFunc {
	return func(_ context.Context, _ *existingImage, _ string, l *layer) error {
		return l.addBytes(strings.TrimPrefix(ToolboxPath, "/"), 0o755, bin)
	}
}

// toolboxBinary returns the toolbox and its hash. It reads the toolbox once in the life of a Builder.
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

// FindLocal returns the id of a local worker image, given its key or id. It returns "" if the image
// does not exist, since people may have removed it.
//
// The toolbox of the image is always that of this program. Images of open tasks survive an update, and
// an older toolbox may lack a call or interpret it differently. If the toolbox differs, the image gets
// the new one as an additional layer. The rest of the image stays as it was prepared for the task.
func (b *Builder) FindLocal(ctx context.Context, key string) (id string, err error) {
	var image *existingImage
	if company.Hash(key).Valid() {
		image, err = b.findImage(ctx, layerStep{key: company.Hash(key), repository: workerRepository})
	} else {
		image, err = b.inspectImage(ctx, key)
	}
	if image == nil || err != nil {
		return "", err
	}
	bin, hash, err := b.toolboxBinary()
	if err != nil {
		return "", err
	}
	b.markUse(ctx, company.Hash(key), "")
	if image.toolbox == string(hash) {
		return image.id, nil
	}
	unlock, err := b.lockFile(ctx, buildsLock, syscall.LOCK_SH, "waiting for the removal of old images")
	if err != nil {
		return "", err
	}
	defer unlock()
	var beside sync.WaitGroup
	defer beside.Wait()
	step := layerStep{kind: toolboxLayer, key: hashKey(toolboxLayer, "on", image.id, string(hash)),
		repository: workerRepository,
		build:      b.buildFromTar(fillToolbox(bin)), toolbox: hash, beside: &beside}
	renewed, err := b.ensureStep(ctx, image, step)
	if err != nil {
		return "", err
	}
	projects, _ := b.readUse(company.Hash(key))
	for _, mirror := range projects {
		b.markUse(ctx, step.key, mirror)
	}
	return renewed.id, nil
}

// inspectImage looks up an image by its id. It returns nil without an error if there is no such image.
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
