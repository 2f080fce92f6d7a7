package docker

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	dockercontainer "github.com/docker/docker/api/types/container"

	"company/internal/container"
	"company/internal/lib/hosttest"
)

// childEnv holds the spec that a child of the test process is to start.
const childEnv = "COMPANY_DOCKER_TEST_CHILD"

// child starts a container, prints its id, and waits to be killed.
func child(spec string) {
	var s container.Spec
	err := json.Unmarshal([]byte(spec), &s)
	if err == nil {
		var r *Runtime
		if r, err = Open(context.Background(), Options{}); err == nil {
			var c container.Container
			if c, err = r.Start(context.Background(), s); err == nil {
				fmt.Println(c.ID())
				select {} // the death of the process is the test
			}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// After kill -9 of the company the container reads end of file and exits by
// itself; it stays listed until the next start sweeps it by its labels.
func TestKilledCompany(t *testing.T) {
	hosttest.NeedsDocker(t)
	spec := newSpec("echo")
	encoded, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	ctx := testContext(t)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(encoded))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err, cmd.Wait())
	}
	id = strings.TrimSpace(id)
	results, errs := world.setup.ContainerWait(ctx, id, dockercontainer.WaitConditionNotRunning)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // tells what the state below tells
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
		t.Fatalf("the child ended by %v", cmd.ProcessState)
	}
	select {
	case res := <-results:
		if res.StatusCode != 0 {
			t.Errorf("the container ended with %d", res.StatusCode)
		}
	case err := <-errs:
		t.Fatal(err)
	}

	r := newRuntime(t)
	removed, err := r.Sweep(ctx, world.office, func(i container.Info) bool { return i.ID != id })
	if err != nil || len(removed) != 1 || removed[0].State != "exited" || removed[0].Labels != spec.Labels {
		t.Errorf("swept %+v, %v", removed, err)
	}
	if exists(t, id) {
		t.Error("the container is still there")
	}
}
