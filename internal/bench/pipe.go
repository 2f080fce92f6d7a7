package bench

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	dockercontainer "github.com/docker/docker/api/types/container"

	"company/internal/toolbox"
)

// benchPipe measures a tool call and the throughput of the pipe.
func benchPipe(ctx context.Context, w *world) (lines []Line, err error) {
	if err := w.docker(ctx); err != nil {
		return nil, err
	}
	b, err := w.box(ctx, w.image)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := b.close(ctx); err == nil {
			err = cerr
		}
	}()
	got, err := take(ctx, w.pick(100, 3),
		timed(func() error { return b.run(ctx, "true") }),
		func() (time.Duration, error) {
			took, err := timed(func() error { return w.exec(ctx, b.c.ID()) })()
			// The daemon tidies up after an exec; that is not to be the next
			// sample's.
			time.Sleep(50 * time.Millisecond)
			return took, err
		},
		timed(func() error {
			_, err := b.tools.Run(ctx, toolbox.RunRequest{Command: "echo hello"})
			return err
		}),
		timed(func() error { return b.tools.Heartbeat(ctx) }),
	)
	if err != nil {
		return nil, err
	}
	call := compare("tool call, true", "exec by the API", got[0], got[1])
	lines = append(lines, call.met("≤ 1/30", call.Ratio <= 1.0/30),
		Line{What: "the same by itself", Unit: "ms", Ours: call.Ours, Samples: call.Samples}.met("≤ 1.5 ms", call.Ours <= 1.5),
		Line{What: "tool call, echo hello", Unit: "ms", Ours: median(got[2]), Samples: len(got[2])},
		Line{What: "call without a process", Unit: "ms", Ours: median(got[3]), Samples: len(got[3]), Note: "what of a tool call is the pipe and HTTP; the rest starts a shell"})

	size := int64(w.pick(256<<20, 4<<20))
	got, err = take(ctx, w.pick(7, 1),
		func() (time.Duration, error) { return b.pull(ctx, size) },
		func() (time.Duration, error) { return w.barePull(ctx, size) },
		func() (time.Duration, error) { return b.push(ctx, size) },
		func() (time.Duration, error) { return w.barePush(ctx, size) },
	)
	if err != nil {
		return nil, err
	}
	out := rate("throughput out of the container", "attach", size, got[0], got[1])
	in := rate("throughput into the container", "attach", size, got[2], got[3])
	return append(lines, out.met("≥ 0.5", out.Ratio >= 0.5), in.met("≥ 0.5", in.Ratio >= 0.5)), nil
}

// exec is a command in a container the way that Docker has for it: create,
// start attached, inspect.
func (w *world) exec(ctx context.Context, id string) error {
	made, err := w.raw.ContainerExecCreate(ctx, id, dockercontainer.ExecOptions{Cmd: []string{"sh", "-c", "true"}, AttachStdout: true, AttachStderr: true})
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

// stream has a command in the container connect to the host, and gives the
// connection to fn. The command ends when fn is done.
func (b *box) stream(ctx context.Context, command string, fn func(net.Conn) error) error {
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

func (b *box) pull(ctx context.Context, size int64) (took time.Duration, err error) {
	err = b.stream(ctx, fmt.Sprintf("head -c %d /dev/zero > /dev/tcp/127.0.0.1/%d", size, gatewayPort), func(c net.Conn) error {
		took, err = drain(c, size)
		return err
	})
	return took, err
}

func (b *box) push(ctx context.Context, size int64) (time.Duration, error) {
	var began time.Time
	err := b.stream(ctx, fmt.Sprintf("test $(head -c %d < /dev/tcp/127.0.0.1/%d | wc -c) = %[1]d", size, gatewayPort), func(c net.Conn) error {
		began = time.Now()
		_, err := io.CopyN(c, zeros{}, size)
		return err
	})
	return time.Since(began), err
}

// barePull is the time from the first byte of a container's attached stdout to
// the last.
func (w *world) barePull(ctx context.Context, size int64) (took time.Duration, err error) {
	id, err := w.bare(ctx, false, "head", "-c", fmt.Sprint(size), "/dev/zero")
	if err != nil {
		return 0, err
	}
	defer func() {
		if derr := w.drop(ctx, id); err == nil {
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
	return drain(h.Reader, size)
}

// barePush is the time that a container's attached stdin takes; the container
// says when it has everything, since its end takes time of its own.
func (w *world) barePush(ctx context.Context, size int64) (took time.Duration, err error) {
	id, err := w.bare(ctx, true, "sh", "-c", fmt.Sprintf("test $(head -c %d | wc -c) = %[1]d && echo whole", size))
	if err != nil {
		return 0, err
	}
	defer func() {
		if derr := w.drop(ctx, id); err == nil {
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

// drain reads at least size bytes and tells the time from the first byte on.
func drain(r io.Reader, size int64) (time.Duration, error) {
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
