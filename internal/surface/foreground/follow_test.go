package foreground

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"company/internal/agent"
	"company/internal/api/apitest"
	"company/internal/api/client"
	"company/internal/company"
	"company/internal/engine/replay"
	"company/internal/office"
	"company/internal/office/officetest"
	"company/internal/present/feed"
	"company/internal/present/view"
	"company/internal/present/view/viewtest"
	"company/internal/surface/officeaccess"
	"company/internal/surface/terminalio"
	"company/internal/surface/terminalio/terminaltest"
	"company/internal/upkeep"
)

func newPaths(t *testing.T) office.Paths {
	return officetest.Open(t).Paths
}

// fakeOffice is an office that plays a prepared feed.
type fakeOffice struct {
	mu    sync.Mutex
	state *company.State
	items chan feed.Item
	done  []company.Command
	do    func(*company.State, company.Command) error
}

func (p *fakeOffice) Source() view.Source {
	p.mu.Lock()
	defer p.mu.Unlock()
	return view.Source{State: p.state.View(), Now: time.Now()}
}

func (p *fakeOffice) DoID(_ context.Context, _, _ string, c company.Command) ([]company.Event, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = append(p.done, c)
	err := p.do(p.state, c)
	select { // its event, where the office sends any
	case p.items <- feed.Item{Seq: p.state.Seq, Time: viewtest.Time, Kind: "approval.answered", Text: "answered"}:
	default:
	}
	return nil, err
}

// client is a client of the office.
func (p *fakeOffice) client(t *testing.T) *client.Office { return apitest.Connect(t, p) }

func (*fakeOffice) StartWork(context.Context) ([]company.TaskID, error) { return nil, nil }
func (*fakeOffice) RequestEnd() error                                   { return nil }

func (p *fakeOffice) StreamTranscript(context.Context, company.RunID, bool, func(agent.TranscriptEntry) error) error {
	return errors.New("a prepared feed has no journal")
}

func (p *fakeOffice) StreamRecord(context.Context, company.TaskID, func(replay.Entry) error) error {
	return errors.New("a prepared feed has no record")
}

func (*fakeOffice) CheckEvidence(context.Context, string) (view.EvidenceCheck, error) {
	return view.EvidenceCheck{}, company.E(company.ENotFound, "there is no ledger")
}

func (*fakeOffice) FindLeftovers(context.Context, bool, bool) (upkeep.Report, error) {
	return upkeep.NewReport(true), nil
}

func (p *fakeOffice) Verify(context.Context) (view.Verification, error) {
	return view.Verification{}, errors.New("a prepared feed has no ledger")
}

func (p *fakeOffice) Follow(ctx context.Context, _ feed.Range, fn func(feed.Item) error) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case it, ok := <-p.items:
			if !ok {
				return io.EOF
			}
			if err := fn(it); err != nil {
				return err
			}
		}
	}
}

// A follower shows the event that brought its task to rest before it ends,
// also when the state is ahead of the feed; and it ends then, whatever other
// tasks do. A person sees nothing of those: each terminal shows the task that was given there.
func TestFollowShowsTheLastEvent(t *testing.T) {
	s, task := viewtest.TaskOf(nil)
	p := &fakeOffice{state: s, items: make(chan feed.Item)}
	var errs bytes.Buffer
	f := &follower{console: &terminalio.Console{Err: &errs, Output: "text"}, tasks: []company.TaskID{task.ID}}
	ended := make(chan error, 1)
	go func() { ended <- f.followTasks(t.Context(), p.client(t)) }()
	for seq := uint64(1); seq <= 3; seq++ {
		select {
		case err := <-ended:
			t.Fatalf("it ended before event %d was shown: %v", seq, err)
		case <-time.After(3 * settleDelay): // a pace slow enough for a wrong follower to end
		}
		it := feed.Item{Seq: seq, Time: viewtest.Time, Task: task.ID, Kind: "task.completed",
			Text: "event " + strconv.Itoa(int(seq))}
		if seq == 2 {
			it.Task = "t9"
		}
		p.items <- it
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if shown := errs.String(); !strings.Contains(shown, "event 3") || strings.Contains(shown, "event 2") {
		t.Errorf("shown:\n%s", shown)
	}
}

// A feed that is cut by the end of the other process is told from one that is
// at its end.
func TestFollowFeedCut(t *testing.T) {
	s, task := viewtest.TaskOf(viewtest.WithQuestion(company.AskPlan, "?"))
	task.Runs = map[company.RunID]*company.Run{"t12-02.1": {ID: "t12-02.1", Held: true}}
	p := &fakeOffice{state: s, items: make(chan feed.Item)}
	close(p.items)
	f := &follower{console: &terminalio.Console{Err: io.Discard, Output: "text"}, tasks: []company.TaskID{task.ID}}
	if err := f.followTasks(t.Context(), p.client(t)); !client.IsFeedCut(err) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(terminalio.ErrInterrupted)
	p.items = make(chan feed.Item)
	if err := f.followTasks(ctx, p.client(t)); !errors.Is(err, terminalio.ErrInterrupted) {
		t.Errorf("%v", err)
	}
}

// interruptedJob is a job whose start is interrupted.
type interruptedJob struct{ interrupt func() company.TaskID }

func (interruptedJob) checkTodo(context.Context, *client.Office, *view.Work) (bool, error) {
	return true, nil
}

func (j interruptedJob) start(context.Context, *client.Office) ([]company.TaskID, error) {
	return []company.TaskID{j.interrupt()}, nil
}

// An interrupt that comes when the task has ended, and before the feed has told
// it, ends with the task's summary. One that comes before lets the task rest, unless it
// waits for an answer, which lets it go on.
func TestInterruptAfterTheEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		end    func(*company.Task)
		result string
	}{
		"completed": {end: func(t *company.Task) {
			t.Status, t.PR = company.StatusCompleted, &company.PullRequest{Number: 7, State: company.PROpen}
		}, result: "COMPLETE"},
		"cancelled": {end: func(t *company.Task) { t.Status = company.StatusCancelled }, result: "INCOMPLETE"},
		"asks":      {end: func(*company.Task) {}},
		"at work": {end: func(t *company.Task) {
			t.Runs = map[company.RunID]*company.Run{"t12-02.1": {ID: "t12-02.1", Held: true}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, task := viewtest.TaskOf(viewtest.WithQuestion(company.AskPlan, "?"))
			p := &fakeOffice{state: s, items: make(chan feed.Item),
				do: func(*company.State, company.Command) error { return nil }}
			var errs bytes.Buffer
			console := &terminalio.Console{Err: &errs, Output: "text"}
			f := &follower{console: console, entrance: &officeaccess.Entrance{Console: console}}
			ctx, interrupt := context.WithCancelCause(t.Context())
			came, err := f.runOnce(ctx, p.client(t), interruptedJob{func() company.TaskID {
				p.mu.Lock()
				defer p.mu.Unlock()
				ended := *task
				tc.end(&ended)
				s.Tasks[task.ID] = &ended
				interrupt(terminalio.ErrInterrupted)
				return task.ID
			}})
			end, err := f.reportEnd(ctx, came, false, err)
			if err != nil || end.Interrupted != (tc.result == "") {
				t.Errorf("%+v, %v", end, err)
			}
			if tc.result != "" && (len(end.Summaries) != 1 || end.Summaries[0].Task != task.ID ||
				end.Summaries[0].Result != tc.result) {
				t.Errorf("summaries: %+v", end.Summaries)
			}
			if told := strings.Contains(errs.String(),
				"the work goes on: company feed --follow "+string(task.ID)+" shows it"); told != end.Interrupted {
				t.Errorf("shown:\n%s", errs.String())
			}
			if len(p.done) > 0 {
				t.Errorf("sent: %+v", p.done)
			}
		})
	}
}

// A stream that is no terminal hears that the work goes on; a terminal and
// whoever wants quiet do not.
func TestHeartbeat(t *testing.T) {
	s, task := viewtest.TaskOf(viewtest.WithQuestion(company.AskMerge, "?"))
	task.Runs = map[company.RunID]*company.Run{"t12-02.1": {ID: "t12-02.1", Held: true}}
	w, err := view.Source{State: s, Now: time.Now(), AtWork: true}.Work(task.ID)
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	f := &follower{console: &terminalio.Console{Err: &errs, Output: "text"}, tasks: []company.TaskID{task.ID}}
	f.printHeartbeat(&w, time.Now())
	if want := "t12     - still running: needs you, 1 of 2 subtasks merged, $0.41, "; !strings.Contains(
		errs.String(), want) {
		t.Errorf("got %q", errs.String())
	}
	errs.Reset()
	f.console.Output = "json"
	f.printHeartbeat(&w, time.Now())
	if !strings.Contains(errs.String(), `"kind":"heartbeat"`) {
		t.Errorf("got %q", errs.String())
	}
	errs.Reset()
	f.console.Output, f.console.Quiet = "text", true
	f.printHeartbeat(&w, time.Now())
	if errs.Len() > 0 {
		t.Errorf("got %q", errs.String())
	}
	_, tty := terminaltest.OpenPTY(t)
	f.console = &terminalio.Console{Err: tty, Output: "text", NoColor: true,
		LookupEnv: func(string) (string, bool) { return "xterm", true }}
	f.printHeartbeat(&w, time.Now())
	if n := unreadBytes(t, tty); n > 0 {
		t.Errorf("%d bytes went to the terminal", n)
	}
}

// unreadBytes counts what a terminal was told: its own input queue stays empty.
func unreadBytes(t *testing.T, f *os.File) int {
	t.Helper()
	n, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCOUTQ)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// newQuestionClient is an office with one question, which an answer ends with its task.
func newQuestionClient(kind company.ApprovalKind, text string) (*fakeOffice, *company.Task) {
	s, task := viewtest.TaskOf(viewtest.WithQuestion(kind, text))
	if kind == viewtest.FourOptions {
		s.UseOptions(viewtest.FourOptionTable)
	}
	task.Subtasks[1].Status = company.SubtaskMerging
	return &fakeOffice{state: s, items: make(chan feed.Item, 8), do: func(s *company.State, c company.Command) error {
		q := *s.Approvals["a3"]
		q.Answered = viewtest.Time
		s.Approvals["a3"] = &q
		task := *s.Tasks["t12"]
		task.Status = company.StatusCompleted
		s.Tasks["t12"] = &task
		return nil
	}}, task
}

// At a terminal a question is asked until the answer is one. What was typed
// before it was asked answers nothing, nor does a yes with words that nobody
// would read.
func TestQuestionDialog(t *testing.T) {
	for name, tc := range map[string]struct {
		kind  company.ApprovalKind
		typed []string
		want  company.Answer
	}{
		"yes": {company.AskMerge, []string{"", "perhaps", "yes"}, company.Answer{Option: company.OptApprove}},
		"yes, with a comma": {company.AskBlocked, []string{"Yes, look at a.go first"},
			company.Answer{Option: company.OptApprove, Text: "look at a.go first"}},
		"a yes with a wish": {company.AskMerge, []string{"y but rename it", "n rename it"},
			company.Answer{Option: company.OptReject, Text: "rename it"}},
		"a sentence alone": {company.AskBlocked, []string{"look at a.go first", "n", "look at b.go first", "y"},
			company.Answer{Option: company.OptApprove, Text: "look at b.go first"}},
		"words": {company.AskClarification, []string{"y the first"},
			company.Answer{Option: company.OptAnswer, Text: "y the first"}},
		"help, then words": {company.AskClarification, []string{"?", "both"},
			company.Answer{Option: company.OptAnswer, Text: "both"}},
		"an amount": {company.AskBudget, []string{"y much", "y 2.50usd"},
			company.Answer{Option: company.OptApprove, Raise: company.Amount{MicroUSD: 2_500_000}}},
		"a further option": {viewtest.FourOptions, []string{"3", "request_changes make it smaller"},
			company.Answer{Option: "request_changes", Text: "make it smaller"}},
		"a further key": {viewtest.FourOptions, []string{"4"}, company.Answer{Option: "abort"}},
		"keys that steer": {company.AskBlocked, []string{"y up\x1b[Ahere"},
			company.Answer{Option: company.OptApprove, Text: `up\x1b[Ahere`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			person, tty := terminaltest.OpenPTY(t)
			p, task := newQuestionClient(tc.kind, "Merge t12-02\x1b[2J?")
			if _, err := person.WriteString("y\n"); err != nil { // typed before it was asked
				t.Fatal(err)
			}
			f := &follower{console: &terminalio.Console{In: tty, Err: tty, Output: "text", NoColor: true},
				tasks: []company.TaskID{task.ID}, lastSeq: p.state.Seq}
			ended := make(chan error, 1)
			go func() { ended <- f.followTasks(t.Context(), p.client(t)) }()
			if shown := terminaltest.ReadToPrompt(t, person, "a3> "); strings.Contains(shown, "\x1b[2J") {
				t.Errorf("the question steers the terminal: %q", shown)
			}
			for i, line := range tc.typed {
				if i > 0 {
					terminaltest.ReadToPrompt(t, person, "> ")
				}
				if _, err := person.WriteString(line + "\n"); err != nil {
					t.Fatal(err)
				}
			}
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			tc.want.Approval, tc.want.By = "a3", "terminal"
			if len(p.done) != 1 || p.done[0].(company.Answer) != tc.want {
				t.Errorf("sent: %+v, want %+v", p.done, tc.want)
			}
		})
	}
}

// What happens while a question is open is shown at once: above the prompt where the terminal inserts lines, so that
// what the person has typed stays, and else with the prompt once more. Lines of other tasks are not shown.
func TestQuestionDialogShowsWhatHappens(t *testing.T) {
	const prompt = "a3> "
	for term, end := range map[string]string{"dumb": prompt, "xterm": "stopped\x1b8\x1b[B"} {
		t.Run(term, func(t *testing.T) {
			person, tty := terminaltest.OpenPTY(t)
			p, task := newQuestionClient(company.AskBlocked, "Try again?")
			p.items = make(chan feed.Item)
			f := &follower{console: &terminalio.Console{In: tty, Err: tty, Output: "text", NoColor: true,
				LookupEnv: func(string) (string, bool) { return term, true }},
				tasks: []company.TaskID{task.ID}, lastSeq: p.state.Seq}
			ended := make(chan error, 1)
			go func() { ended <- f.followTasks(t.Context(), p.client(t)) }()
			terminaltest.ReadToPrompt(t, person, prompt)
			for _, item := range []feed.Item{{Task: "t9", Text: "somebody else's"}, {Text: "stopped"}} {
				item.Seq, item.Time, item.Kind = p.state.Seq+1, viewtest.Time, "office.stopped"
				p.items <- item
			}
			if shown := terminaltest.ReadToPrompt(t, person, end); !strings.Contains(shown, "stopped") ||
				strings.Contains(shown, "somebody") || len(p.done) > 0 {
				t.Errorf("shown: %q", shown)
			}
			if _, err := person.WriteString("y\n"); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil || len(p.done) != 1 {
				t.Errorf("%v, sent: %+v", err, p.done)
			}
		})
	}
}

// An answer from elsewhere ends the dialog.
func TestQuestionAnsweredElsewhere(t *testing.T) {
	person, tty := terminaltest.OpenPTY(t)
	p, task := newQuestionClient(company.AskBlocked, "Try again?")
	f := &follower{console: &terminalio.Console{In: tty, Err: tty, Output: "text", NoColor: true},
		tasks: []company.TaskID{task.ID}, lastSeq: p.state.Seq}
	ended := make(chan error, 1)
	go func() { ended <- f.followTasks(t.Context(), p.client(t)) }()
	terminaltest.ReadToPrompt(t, person, "a3> ")
	p.mu.Lock()
	// The dialog may be reading the maps, so they are replaced and not changed.
	p.state.Approvals, p.state.Tasks = maps.Clone(p.state.Approvals), maps.Clone(p.state.Tasks)
	err := p.do(p.state, company.Answer{})
	p.mu.Unlock()
	if err = errors.Join(err, <-ended); err != nil {
		t.Fatal(err)
	}
	if _, err := tty.WriteString("$ "); err != nil {
		t.Fatal(err)
	}
	if shown := terminaltest.ReadToPrompt(t, person, "$ "); !strings.Contains(shown, "a3 was answered elsewhere") ||
		len(p.done) > 0 {
		t.Errorf("shown:\n%s\nsent: %+v", shown, p.done)
	}
}

// An answer that the company refuses is told, and the question is asked again:
// the work of the others does not end with it.
func TestQuestionDialogRefusedAnswer(t *testing.T) {
	person, tty := terminaltest.OpenPTY(t)
	p, task := newQuestionClient(company.AskBudget, "Raise the cap?")
	take := p.do
	p.do = func(s *company.State, c company.Command) error {
		if c.(company.Answer).Raise.Tokens > 0 {
			return company.E(company.EInvalid, "this does not raise the cap of t12")
		}
		return take(s, c)
	}
	f := &follower{console: &terminalio.Console{In: tty, Err: tty, Output: "text", NoColor: true},
		tasks: []company.TaskID{task.ID}, lastSeq: p.state.Seq}
	ended := make(chan error, 1)
	go func() { ended <- f.followTasks(t.Context(), p.client(t)) }()
	terminaltest.ReadToPrompt(t, person, "a3> ")
	for _, line := range []string{"y 100ktokens\n", "y 5usd\n"} {
		if _, err := person.WriteString(line); err != nil {
			t.Fatal(err)
		}
		if line != "y 5usd\n" {
			if shown := terminaltest.ReadToPrompt(t, person, "a3> "); !strings.Contains(
				shown, "error[E_INVALID]: this does not raise the cap of t12") {
				t.Errorf("shown:\n%s", shown)
			}
		}
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if len(p.done) != 2 {
		t.Errorf("sent: %+v", p.done)
	}
}

// --yes answers what is asked before the work begins, and nothing else.
func TestYesApprovesPlanOnly(t *testing.T) {
	for kind, want := range map[company.ApprovalKind]bool{
		company.AskPlan: true, company.AskNoGates: true, company.AskMerge: false, company.AskBudget: false,
		company.AskProtected: false, company.AskClarification: false,
	} {
		s, task := viewtest.TaskOf(viewtest.WithQuestion(kind, "?"))
		p := &fakeOffice{state: s, do: func(*company.State, company.Command) error { return nil }}
		f := &follower{console: &terminalio.Console{Yes: true}}
		got, err := f.autoApprove(t.Context(), p.client(t), []view.Approval{question(t, s, task.ID)})
		if err != nil || got != want || len(p.done) != map[bool]int{true: 1, false: 0}[want] {
			t.Errorf("%s: %v, %v, %d commands", kind, got, err, len(p.done))
		}
	}
}

// question is the open question of a task.
func question(t *testing.T, s *company.State, id company.TaskID) view.Approval {
	t.Helper()
	q, err := view.Source{State: s}.Question(string(id))
	if err != nil {
		t.Fatal(err)
	}
	return q
}
