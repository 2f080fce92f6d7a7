package program

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/adapters/scripted"
	"company/internal/agent"
	"company/internal/agent/agenttest"
	"company/internal/agent/budget"
	"company/internal/company"
	"company/internal/toolbox/toolproto"
)

const (
	codexBegins = `{"type":"thread.started","thread_id":"T"}` + "\n"
	codexEnds   = `{"type":"item.completed","item":{"type":"agent_message","text":"done"}}` + "\n" +
		`{"type":"turn.completed"}` + "\n"
)

// player is a sandbox whose program is codex. Each run of it is a function.
type player struct {
	sandbox
	plays []func(ctx context.Context, out func(string)) (exit int)
	asked []toolproto.ProgramRequest
}

func (p *player) RunProgram(
	ctx context.Context, r toolproto.ProgramRequest, out func(toolproto.ProgramOutput),
) (toolproto.ProgramExit, error) {
	p.asked = append(p.asked, r)
	play := p.plays[min(len(p.asked), len(p.plays))-1]
	exit := play(ctx, func(text string) { out(stdout(text)) })
	return toolproto.ProgramExit{ExitCode: exit}, ctx.Err()
}

// ask asks the program's model once.
func (p *player) ask() {
	answer := httptest.NewRecorder()
	p.model.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/v1/responses", strings.NewReader(
		`{"input":"go on","tools":[{"type":"function","name":"f"}]}`)))
	p.replies = append(p.replies, answer.Body.String())
}

// run asks the model, prints and ends.
func (p *player) run(prints string, exit int) func(context.Context, func(string)) int {
	return func(_ context.Context, out func(string)) int {
		out(codexBegins)
		p.ask()
		out(prints)
		return exit
	}
}

func (p *player) drive(
	t *testing.T, journal agent.Journal, change func(*agent.Job, *Driver),
) (agent.Outcome, error) {
	t.Helper()
	p.replies = nil
	return p.driveWithModel(t, func(scripted.Exchange) scripted.Reply { return scripted.Reply{Text: "ok"} },
		func(job *agent.Job, d *Driver) {
			job.Journal, job.Workspace, job.Program.Place = journal, p, p
			d.Program, d.Bin = codex, nil
			if change != nil {
				change(job, d)
			}
		})
}

func (p *player) isContinued(i int) bool { return slices.Contains(p.asked[i].Argv, "resume") }

// driveUntilHalt drives a run that is halted at its third request. Its work is saved before each request.
func (p *player) driveUntilHalt(t *testing.T, journal agent.Journal) {
	t.Helper()
	p.plays = []func(context.Context, func(string)) int{func(_ context.Context, out func(string)) int {
		out(codexBegins)
		for range 3 {
			p.ask()
		}
		return 1
	}}
	_, err := p.drive(t, journal, func(job *agent.Job, d *Driver) {
		d.Limits.Save = time.Nanosecond
		job.Halt = func() error {
			if len(p.replies) == 2 {
				return company.E(company.EStopped, "halted")
			}
			return nil
		}
	})
	if company.CodeOf(err) != company.EStopped {
		t.Fatal(err)
	}
}

// A run that an earlier process began continues the conversation that it saved, in a new container. If the program
// cannot, it begins anew from its brief.
func TestConversationContinues(t *testing.T) {
	kept := &agenttest.Journal{}
	p := &player{}
	p.driveUntilHalt(t, kept)
	if n := countKind(kept, "saved"); n != 3 { // before each request, and at the end
		t.Errorf("%d records of saved work", n)
	}

	after := &player{}
	after.plays = []func(context.Context, func(string)) int{after.run(codexEnds, 0)}
	out, err := after.drive(t, clone(kept), nil)
	if err != nil || out.End != agent.EndFinal || len(after.asked) != 1 || !after.isContinued(0) ||
		string(after.asked[0].Home) != ".codex/sessions" || string(after.asked[0].Stdin) != afterRestart ||
		!strings.Contains(strings.Join(after.asked[0].Argv, " "), "exec resume T --json") {
		t.Errorf("%+v, %v, %+v", out, err, after.asked)
	}

	stuck := &player{}
	stuck.plays = []func(context.Context, func(string)) int{
		func(_ context.Context, out func(string)) int { out("no such conversation\n"); return 1 },
		stuck.run(codexEnds, 0)}
	out, err = stuck.drive(t, clone(kept), nil)
	if err != nil || out.End != agent.EndFinal || len(stuck.asked) != 2 || !stuck.isContinued(0) ||
		stuck.isContinued(1) || stuck.asked[1].Home != nil || string(stuck.asked[1].Stdin) != "ticket\n\nrules" {
		t.Errorf("%+v, %v, %+v", out, err, stuck.asked)
	}

	// Without its files a conversation does not continue.
	large, journal := &player{}, &agenttest.Journal{}
	large.noHome = toolproto.Refuse(toolproto.KindTooLarge, "too large")
	large.driveUntilHalt(t, journal)
	after.asked = nil
	if _, err = after.drive(t, journal, nil); err != nil || after.isContinued(0) {
		t.Errorf("%v, %+v", err, after.asked)
	}
}

func clone(journal *agenttest.Journal) *agenttest.Journal {
	out := &agenttest.Journal{}
	for _, r := range journal.Records() {
		_, _ = out.Append(context.Background(), r.Kind, r.Data) // JSON encodes as itself
	}
	return out
}

func countKind(journal *agenttest.Journal, kind string) (n int) {
	for _, r := range journal.Records() {
		if r.Kind == kind {
			n++
		}
	}
	return n
}

// A program that ends is told what the president has said meanwhile, in the same conversation, and then its end counts.
func TestWordsAreToldAtTheEnd(t *testing.T) {
	p := &player{}
	words := []string{"use tabs"}
	p.plays = []func(context.Context, func(string)) int{p.run(codexEnds, 0)}
	out, err := p.drive(t, &agenttest.Journal{}, func(job *agent.Job, _ *Driver) {
		job.Words = func() []string { return words }
	})
	if err != nil || out.End != agent.EndFinal || out.Heard != 1 || len(p.asked) != 2 || !p.isContinued(1) ||
		string(p.asked[1].Stdin) != "The president says: use tabs" {
		t.Errorf("%+v, %v, %+v", out, err, p.asked)
	}
	// However much is said, the work ends at last.
	p.asked = nil
	out, err = p.drive(t, &agenttest.Journal{}, func(job *agent.Job, _ *Driver) {
		job.Words = func() []string {
			words = append(words, "and this")
			return words[:len(p.asked)]
		}
	})
	if err != nil || out.End != agent.EndFinal || len(p.asked) != 1+maxWords {
		t.Errorf("%+v, %v, %d starts", out, err, len(p.asked))
	}
}

// Words that were told after the conversation was saved are told again to the program that continues it.
func TestWordsSurviveAKill(t *testing.T) {
	kept := &agenttest.Journal{}
	p := &player{}
	p.plays = []func(context.Context, func(string)) int{
		func(_ context.Context, out func(string)) int {
			out(codexBegins)
			p.ask()
			out(codexEnds)
			return 0
		}, p.run(codexEnds, 0)}
	if _, err := p.drive(t, kept, func(job *agent.Job, d *Driver) {
		d.Limits.Save = time.Nanosecond
		job.Words = func() []string { return []string{"use tabs"} }
	}); err != nil {
		t.Fatal(err)
	}
	cut := &agenttest.Journal{}
	for _, r := range kept.Records() { // the process is killed when the words are told
		_, _ = cut.Append(t.Context(), r.Kind, r.Data)
		if r.Kind == "note" {
			break
		}
	}
	next := &player{}
	next.plays = []func(context.Context, func(string)) int{next.run(codexEnds, 0)}
	out, err := next.drive(t, cut, nil)
	if err != nil || out.Heard != 1 || !next.isContinued(0) ||
		string(next.asked[0].Stdin) != afterRestart+"\n\nThe president says: use tabs" {
		t.Errorf("%+v, %v, %s", out, err, next.asked[0].Stdin)
	}
	// The words are in the conversation that is saved later.
	if n := countKind(kept, "note"); n != 1 {
		t.Errorf("%d notes", n)
	}
	last := &player{}
	last.plays = []func(context.Context, func(string)) int{last.run(codexEnds, 0)}
	if _, err := last.drive(t, kept, nil); err != nil || string(last.asked[0].Stdin) != afterRestart {
		t.Errorf("%v, %s", err, last.asked[0].Stdin)
	}
}

// A wait for money ends the program. When it is over, the program goes on in its conversation, whose files are there.
func TestConversationContinuesAfterAWait(t *testing.T) {
	p := &player{}
	p.plays = []func(context.Context, func(string)) int{p.run("", 1), p.run(codexEnds, 0)}
	out, err := p.drive(t, &agenttest.Journal{}, func(job *agent.Job, d *Driver) {
		d.Limits.Hold = 20 * time.Millisecond
		job.Allowance = budget.NewAllowance(company.Amount{}, company.Amount{},
			func(ctx context.Context, _, most company.Amount) (company.Amount, error) {
				if len(p.replies) > 0 {
					return most, nil
				}
				<-ctx.Done() // the first request finds no room
				return company.Amount{}, context.Cause(ctx)
			})
	})
	if err != nil || out.End != agent.EndFinal || len(p.asked) < 2 || !p.isContinued(1) ||
		string(p.asked[1].Stdin) != afterWait || p.asked[1].Home != nil {
		t.Errorf("%+v, %v, %+v", out, err, p.asked)
	}
}

// Feature: programs as workers, Property 1: whatever record is the last one of a killed process, the money of the
// journal is what the next process has spent, and its run comes to the same end.
func TestAnyRecordIsTheLast(t *testing.T) {
	whole := &agenttest.Journal{}
	p := &player{}
	p.plays = []func(context.Context, func(string)) int{func(_ context.Context, out func(string)) int {
		out(codexBegins)
		for range 3 {
			p.ask()
			out(`{"type":"item.completed","item":{"type":"agent_message","text":"on it"}}` + "\n")
		}
		out(codexEnds)
		return 0
	}}
	save := func(_ *agent.Job, d *Driver) { d.Limits.Save = time.Nanosecond }
	if _, err := p.drive(t, whole, save); err != nil {
		t.Fatal(err)
	}
	records := whole.Records()
	for n := range len(records) {
		cut := &agenttest.Journal{}
		for _, r := range records[:n] {
			_, _ = cut.Append(t.Context(), r.Kind, r.Data)
		}
		before, err := agent.LookBack(t.Context(), cut)
		if err != nil {
			t.Fatal(err)
		}
		next := &player{}
		next.plays = []func(context.Context, func(string)) int{next.run(codexEnds, 0)}
		var allowance *budget.Allowance
		out, err := next.drive(t, cut, func(job *agent.Job, _ *Driver) { allowance = job.Allowance })
		after, lookErr := agent.LookBack(t.Context(), cut)
		if err != nil || lookErr != nil || out.End != agent.EndFinal {
			t.Fatalf("after %d records: %+v, %v, %v", n, out, err, lookErr)
		}
		spent := allowance.Balance().Spent
		if after.Spent.Tokens != before.Spent.Tokens+spent.Tokens || after.Turns != before.Turns+1 {
			t.Errorf("after %d records: %+v and %+v are not %+v", n, before.Spent, spent, after.Spent)
		}
		wantContinued := hasSaved(records[:n])
		if next.isContinued(0) != wantContinued {
			t.Errorf("after %d records (%s): continued %t", n, records[max(0, n-1)].Kind, next.isContinued(0))
		}
	}
}

func hasSaved(records []agenttest.Record) bool {
	return slices.ContainsFunc(records, func(r agenttest.Record) bool { return r.Kind == "saved" })
}
