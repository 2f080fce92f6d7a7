package realrepos

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// life is when a container ran, as the daemon says. One that runs still has no
// end.
type life struct {
	name, office, role string
	start, end         time.Time
}

func (l life) overlaps(o life) bool { return l.start.Before(o.end) && o.start.Before(l.end) }

func (l life) String() string {
	return fmt.Sprintf("%s %s–%s", l.name, l.start.Format("15:04:05.000"), l.end.Format("15:04:05.000"))
}

// watchDocker listens to the daemon's events from now on (the daemon itself
// remembers few), and gives what tells the lives of an office's containers of
// one role, when so many of them have ended.
func watchDocker(t *testing.T) func(office, role string, want int) []life {
	t.Helper()
	cmd := exec.Command("docker", "events", "--since", time.Now().Format(time.RFC3339Nano), "--format", "{{json .}}",
		"--filter", "type=container", "--filter", "label=company.office")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatalf("docker events: %v", err)
	}
	var mu sync.Mutex
	var order []string
	lives := map[string]*life{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var e struct {
				Action   string
				TimeNano int64 `json:"timeNano"`
				Actor    struct {
					ID         string
					Attributes map[string]string
				}
			}
			if json.Unmarshal(lines.Bytes(), &e) != nil {
				continue // a line that tells nothing is missed below
			}
			mu.Lock()
			switch l := lives[e.Actor.ID]; {
			case e.Action == "start":
				a := e.Actor.Attributes
				order = append(order, e.Actor.ID)
				lives[e.Actor.ID] = &life{name: a["name"], office: a["company.office"], role: a["company.role"],
					start: time.Unix(0, e.TimeNano)}
			case e.Action == "die" && l != nil:
				l.end = time.Unix(0, e.TimeNano)
			}
			mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-done
		_ = cmd.Wait() // killed
	})
	known := func(office, role string) (all []life, ended bool) {
		mu.Lock()
		defer mu.Unlock()
		ended = true
		for _, id := range order {
			if l := lives[id]; l.office == office && l.role == role {
				all = append(all, *l)
				ended = ended && !l.end.IsZero()
			}
		}
		return all, ended
	}
	return func(office, role string, want int) []life {
		for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) { // the stream may be behind
			if all, ended := known(office, role); len(all) >= want && ended || time.Now().After(end) {
				return all
			}
		}
	}
}
