package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	dockercontainer "github.com/docker/docker/api/types/container"

	"company/internal/company"
	"company/internal/container"
	"company/internal/container/docker"
	"company/internal/container/dockerapi"
	"company/internal/container/image"
	"company/internal/gitops/gitexec"
	"company/internal/toolbox/mux"
	"company/internal/toolbox/toolproto"
)

// benchEnv is what benches share. Parts of it are made when they are first asked
// for.
type benchEnv struct {
	Options
	dir    string
	office string

	rt     container.Runtime
	raw    *dockerapi.Client // for baselines only
	images *image.Builder
	image  string // a worker image without toolchain and project

	project *project
	made    []string
	n       int
}

// openDocker opens the daemon, once.
func (w *benchEnv) openDocker(ctx context.Context) error {
	if w.image != "" {
		return nil
	}
	var err error
	w.office = "bench" + strings.ToLower(rand.Text()[:6])
	if w.rt == nil {
		if w.rt, err = docker.Open(ctx, docker.Options{Log: w.Logger}); err != nil {
			return err
		}
	}
	if w.raw == nil {
		if w.raw, err = dockerapi.Open(dockerapi.Options{Use: dockerapi.Baselines, Log: w.Logger}); err != nil {
			return err
		}
	}
	if w.images, err = image.New(image.Config{Logger: w.Logger, Runtime: w.rt, Progress: w.Progress}); err != nil {
		return err
	}
	img, err := w.images.Ensure(ctx, image.Request{})
	if err != nil {
		return err
	}
	w.image = img.ID
	return nil
}

// close leaves nothing behind.
func (w *benchEnv) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var errs []error
	for _, id := range w.made {
		errs = append(errs, w.removeContainer(ctx, id))
	}
	if w.rt != nil {
		errs = append(errs, w.rt.Close())
	}
	if w.raw != nil {
		errs = append(errs, w.raw.Close())
	}
	if w.images != nil {
		w.images.Close()
	}
	return errors.Join(append(errs, os.RemoveAll(w.dir))...)
}

const gatewayPort = 8377

// benchContainer is a worker's container as the company starts it, with the link to its
// toolbox.
type benchContainer struct {
	w       *benchEnv
	c       container.Container
	session *mux.Session
	tools   *toolproto.Client
}

// startContainer starts one from an image and waits until its toolbox answers.
func (w *benchEnv) startContainer(ctx context.Context, imageID string) (_ *benchContainer, err error) {
	w.n++
	labels := container.Labels{Office: w.office, Run: fmt.Sprintf("t1-01.%d", w.n), Epoch: 1, Role: "worker"}
	b := &benchContainer{w: w}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close(ctx))
		}
	}()
	b.c, err = w.rt.Start(ctx, container.Spec{
		Name: labels.Name(), Image: imageID, Labels: labels,
		Command: []string{image.ToolboxPath, "serve"}, Env: []string{fmt.Sprintf("GATEWAY_PORT=%d", gatewayPort)},
	})
	if err != nil {
		return nil, err
	}
	if b.session, err = mux.Host(b.c.Pipe()); err != nil {
		return nil, err
	}
	b.tools = toolproto.New(b.session)
	return b, b.tools.Heartbeat(ctx)
}

func (b *benchContainer) close(ctx context.Context) error {
	var err error
	if b.c != nil {
		err = b.c.Remove(ctx)
	}
	if b.tools != nil {
		b.tools.Close()
	}
	if b.session != nil {
		_ = b.session.Close() // the other end is gone
	}
	return err
}

// run has the toolbox run a command that must succeed.
func (b *benchContainer) run(ctx context.Context, command string) error {
	res, err := b.tools.Run(ctx, toolproto.RunRequest{Command: command, TimeoutS: 600})
	if err == nil && res.ExitCode != 0 {
		err = company.E(company.EInternal, fmt.Sprintf("%s: exit code %d: %s", command, res.ExitCode, res.Stderr.Head))
	}
	return err
}

// createBare makes a container by the API, with no network and nothing else
// set.
func (w *benchEnv) createBare(ctx context.Context, stdin bool, argv ...string) (string, error) {
	made, err := w.raw.ContainerCreate(ctx,
		&dockercontainer.Config{Image: w.image, Cmd: argv, AttachStdout: true, AttachStdin: stdin, OpenStdin: stdin,
			StdinOnce: stdin},
		&dockercontainer.HostConfig{NetworkMode: "none"}, nil, nil, "")
	if err != nil {
		return "", fmt.Errorf("create a bare container: %w", err)
	}
	w.made = append(w.made, made.ID)
	return made.ID, nil
}

func (w *benchEnv) removeContainer(ctx context.Context, id string) error {
	err := w.raw.ContainerRemove(ctx, id, dockercontainer.RemoveOptions{Force: true})
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	return err
}

// runGit runs git in a folder of the bench's own.
func runGit(ctx context.Context, dir string, stdin io.Reader, args ...string) (string, error) {
	out, err := gitexec.Command{Dir: dir, Stdin: stdin, Args: args, Protocols: "file"}.Output(ctx)
	if err != nil {
		return "", company.E(company.EGit, "a repository to measure with cannot be made").Wrap(err)
	}
	return strings.TrimSpace(string(out)), nil
}
