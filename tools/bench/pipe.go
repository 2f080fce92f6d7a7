package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	dockercontainer "github.com/docker/docker/api/types/container"

	"company/internal/toolbox/toolproto"
)

// benchPipe measures a tool call and the throughput of a container's stdio.
func benchPipe(ctx context.Context, w *benchEnv) (lines []Line, err error) {
	if err := w.openDocker(ctx); err != nil {
		return nil, err
	}
	b, err := w.startContainer(ctx, w.image)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := b.close(ctx); err == nil {
			err = cerr
		}
	}()
	if err := b.run(ctx, "mkdir elsewhere"); err != nil {
		return nil, err
	}
	// A model thinks between two calls.
	afterThinking := func(fn func() error) func() (time.Duration, error) {
		return func() (time.Duration, error) {
			time.Sleep(10 * time.Millisecond)
			return timeFunc(fn)()
		}
	}
	got, err := takeSamples(ctx, w.sampleCount(100, 3),
		afterThinking(func() error { return b.run(ctx, "true") }),
		func() (time.Duration, error) {
			took, err := timeFunc(func() error { return w.execCommand(ctx, b.c.ID()) })()
			// The daemon tidies up after an exec; that is not to be the next
			// sample's.
			time.Sleep(50 * time.Millisecond)
			return took, err
		},
		afterThinking(func() error {
			_, err := b.tools.Run(ctx, toolproto.RunRequest{Command: "echo hello"})
			return err
		}),
		timeFunc(func() error { return b.tools.Heartbeat(ctx) }),
		afterThinking(func() error {
			// No shell waits in this folder.
			_, err := b.tools.Run(ctx, toolproto.RunRequest{Command: "true", Cwd: "elsewhere"})
			return err
		}),
		func() (time.Duration, error) {
			if err := b.run(ctx, "true"); err != nil {
				return 0, err
			}
			return timeFunc(func() error { return b.run(ctx, "true") })()
		},
	)
	if err != nil {
		return nil, err
	}
	call := compareLine("tool call, true", "exec by the API", got[0], got[1])
	lines = append(lines, call.withTarget("≤ 1/30", call.Ratio <= 1.0/30),
		Line{What: "the same by itself", Unit: "ms", Ours: call.Ours, Samples: call.Samples}.withTarget(
			"≤ 1.3 ms", call.Ours <= 1.3),
		compareLine("the same, shell started before", "shell started by the call", got[0], got[4]),
		compareLine("the same, right after another call", "shell started by the call", got[5], got[4]),
		Line{What: "tool call, echo hello", Unit: "ms", Ours: medianMillis(got[2]), Samples: len(got[2])},
		Line{What: "call without a process", Unit: "ms", Ours: medianMillis(got[3]), Samples: len(got[3]),
			Note: "what of a tool call is the pipe and HTTP; the rest starts a shell"})

	size := int64(w.sampleCount(256<<20, 4<<20))
	got, err = takeSamples(ctx, w.sampleCount(7, 1),
		func() (time.Duration, error) { return b.pullBytes(ctx, size) },
		func() (time.Duration, error) { return w.barePull(ctx, size) },
		func() (time.Duration, error) { return b.pushBytes(ctx, size) },
		func() (time.Duration, error) { return w.barePush(ctx, size) },
	)
	if err != nil {
		return nil, err
	}
	out := rateLine("throughput out of the container", "attach", size, got[0], got[1])
	in := rateLine("throughput into the container", "attach", size, got[2], got[3])
	return append(lines, out.withTarget("≥ 0.5", out.Ratio >= 0.5), in.withTarget("≥ 0.5", in.Ratio >= 0.5)), nil
}

// execCommand is a command in a container the way that Docker has for it: create,
// start attached, inspect.
func (w *benchEnv) execCommand(ctx context.Context, id string) error {
	made, err := w.raw.ContainerExecCreate(
		ctx, id, dockercontainer.ExecOptions{Cmd: []string{"sh", "-c", "true"}, AttachStdout: true, AttachStderr: true})
	if err != nil {
		return err
	}
	h, err := w.raw.ContainerExecAttach(ctx, made.ID, dockercontainer.ExecAttachOptions{})
	if err != nil {
		return err
	}
	defer h.Close()
	if _, err := io.Copy(io.Discard, h.Reader); err != nil {
		return err
	}
	_, err = w.raw.ContainerExecInspect(ctx, made.ID)
	return err
}

// runStream has a command in the container connect to the host, and gives the
// connection to fn. The command ends when fn is done.
func (b *benchContainer) runStream(ctx context.Context, command string, fn func(net.Conn) error) error {
	ended := make(chan error, 1)
	go func() { ended <- b.run(ctx, command) }()
	conn, err := b.session.Accept()
	if err == nil {
		err = fn(conn)
		_ = conn.Close()
	}
	if rerr := <-ended; err == nil {
		err = rerr
	}
	return err
}

func (b *benchContainer) pullBytes(ctx context.Context, size int64) (took time.Duration, err error) {
	err = b.runStream(ctx, fmt.Sprintf("head -c %d /dev/zero > /dev/tcp/127.0.0.1/%d", size, gatewayPort),
		func(c net.Conn) error {
			took, err = drainReader(c, size)
			return err
		})
	return took, err
}

func (b *benchContainer) pushBytes(ctx context.Context, size int64) (time.Duration, error) {
	var began time.Time
	err := b.runStream(ctx, fmt.Sprintf("test $(head -c %d < /dev/tcp/127.0.0.1/%d | wc -c) = %[1]d", size, gatewayPort),
		func(c net.Conn) error {
			began = time.Now()
			_, err := io.CopyN(c, zeros{}, size)
			return err
		})
	return time.Since(began), err
}

// barePull is the time from the first byte of a container's attached stdout to
// the last.
func (w *benchEnv) barePull(ctx context.Context, size int64) (took time.Duration, err error) {
	id, err := w.createBare(ctx, false, "head", "-c", fmt.Sprint(size), "/dev/zero")
	if err != nil {
		return 0, err
	}
	defer func() {
		if derr := w.removeContainer(ctx, id); err == nil {
			err = derr
		}
	}()
	h, err := w.raw.ContainerAttach(ctx, id, dockercontainer.AttachOptions{Stream: true, Stdout: true})
	if err != nil {
		return 0, err
	}
	defer h.Close()
	if err := w.raw.ContainerStart(ctx, id, dockercontainer.StartOptions{}); err != nil {
		return 0, err
	}
	return drainReader(h.Reader, size)
}

// barePush is the time that a container's attached stdin takes; the container
// says when it has everything, since its end takes time of its own.
func (w *benchEnv) barePush(ctx context.Context, size int64) (took time.Duration, err error) {
	id, err := w.createBare(ctx, true, "sh", "-c", fmt.Sprintf("test $(head -c %d | wc -c) = %[1]d && echo whole", size))
	if err != nil {
		return 0, err
	}
	defer func() {
		if derr := w.removeContainer(ctx, id); err == nil {
			err = derr
		}
	}()
	h, err := w.raw.ContainerAttach(ctx, id, dockercontainer.AttachOptions{Stream: true, Stdin: true, Stdout: true})
	if err != nil {
		return 0, err
	}
	defer h.Close()
	if err := w.raw.ContainerStart(ctx, id, dockercontainer.StartOptions{}); err != nil {
		return 0, err
	}
	began := time.Now()
	if _, err := io.CopyN(h.Conn, zeros{}, size); err != nil {
		return 0, err
	}
	if _, err := h.Reader.ReadByte(); err != nil {
		return 0, fmt.Errorf("the bare container did not get everything: %w", err)
	}
	return time.Since(began), nil
}

// drainReader reads at least size bytes and tells the time from the first byte on.
func drainReader(r io.Reader, size int64) (time.Duration, error) {
	buf := make([]byte, 256<<10)
	n, err := io.ReadAtLeast(r, buf, 1)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	total := int64(n)
	for total < size {
		n, err := r.Read(buf)
		total += int64(n)
		if err != nil && total < size {
			return 0, fmt.Errorf("%d of %d bytes: %w", total, size, err)
		}
	}
	return time.Since(began), nil
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
