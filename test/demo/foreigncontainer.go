package demo

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// bystander is a container that is nobody's business: it is there before the
// company comes, and must be there when it has gone.
type bystander struct{ name, id string }

// startBystander makes an image of one small program, without a registry, and
// runs it.
func startBystander(ctx context.Context, s *stage) (*bystander, error) {
	// Demos may run side by side: the name is this one's alone.
	b := &bystander{name: fmt.Sprintf("demo-bystander-%d-%08x", s.Seed, rand.Uint32())}
	program := filepath.Join(s.Dir, "bystander")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program,
		"./test/demo/cmd/bystander")
	build.Dir, build.Env = s.Root, append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if _, err := output(build); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var image bytes.Buffer
	w := tar.NewWriter(&image)
	if err := w.WriteHeader(&tar.Header{Name: "bystander", Mode: 0o755, Size: int64(len(text))}); err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	load := exec.CommandContext(ctx, "docker", "import", "--change", `CMD ["/bystander"]`, "-", b.name)
	load.Stdin = &image
	if _, err := output(load); err != nil {
		return nil, err
	}
	if b.id, err = output(
		exec.CommandContext(ctx, "docker", "run", "-d", "--name", b.name, "--network", "none", b.name)); err != nil {
		return nil, errors.Join(err, b.remove(ctx))
	}
	return b, nil
}

// remove removes the container and its image, even when ctx is over.
func (b *bystander) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	_, err1 := output(exec.CommandContext(ctx, "docker", "rm", "-f", b.name))
	_, err2 := output(exec.CommandContext(ctx, "docker", "rmi", "-f", b.name))
	return errors.Join(err1, err2)
}
