package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"company/internal/agent"
	"company/internal/api"
	"company/internal/company"
	"company/internal/engine/replay"
	"company/internal/office"
	"company/internal/present/feed"
	"company/internal/present/view"
	"company/internal/upkeep"
)

// helloTimeout limits how long the process that holds an office may take to answer hello.
const helloTimeout = time.Second

// Dial connects to the process that has an office. It returns nil without an error if that process
// does not answer, because it is opening the office or ending. It returns an error if the process
// has an incompatible version.
func Dial(ctx context.Context, held *office.Holder) (*Office, error) {
	if held == nil || held.Socket == "" {
		return nil, nil
	}
	client := api.Dial(func(ctx context.Context) (net.Conn, error) { return office.DialSocket(ctx, held.Socket) })
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	info, err := client.ServerInfo(ctx)
	if err != nil {
		client.Close()
		if e := new(company.Error); errors.As(err, &e) && e.Code == company.EConflict {
			return nil, e.Because(fmt.Sprintf("process %d on %s: %s", held.PID, held.Host, held.Command)).
				Fix(fmt.Sprintf("stop it with kill %d when its work is done, then start company again", held.PID))
		}
		return nil, nil
	}
	return &Office{Client: client, server: &info}, nil
}

// FindWorking returns the number of the process in which the work of an office has started, or 0 if there is none.
func FindWorking(ctx context.Context, paths office.Paths) (pid int) {
	conn, err := Dial(ctx, office.FindHolder(paths))
	if conn == nil || err != nil {
		return 0
	}
	defer conn.Close()
	if !conn.IsAtWork() {
		return 0
	}
	return conn.Server().PID
}

// None returns the client of an office that was never opened. It has no events.
func None(paths office.Paths) *Office {
	return &Office{Client: api.InProcess(unopened{paths})}
}

// unopened is an office without events.
type unopened struct{ paths office.Paths }

func (n unopened) Source() view.Source {
	paths := n.paths
	return view.Source{
		State: company.NewState(), Now: time.Now().UTC(),
		Folders: view.Folders{Root: paths.Root, Runs: paths.Runs, Reports: paths.Reports, Backlog: paths.Backlog,
			Has: paths.HasFile},
	}
}

func (unopened) DoID(context.Context, string, string, company.Command) ([]company.Event, error) {
	return nil, company.E(company.ENotFound, "there is no office here yet").Fix(`company submit "…" creates one`)
}

func (unopened) StartWork(context.Context) ([]company.TaskID, error) {
	return nil, company.E(company.ENotFound, "there is no office here yet").Fix(`company submit "…" creates one`)
}

func (unopened) RequestEnd() error { return nil }

func (unopened) Follow(context.Context, feed.Range, func(feed.Item) error) error { return io.EOF }

func (unopened) Verify(context.Context) (view.Verification, error) {
	return view.Verification{SchemaVersion: 1, Damage: []view.Damage{}}, nil
}

func (unopened) CheckEvidence(_ context.Context, id string) (view.EvidenceCheck, error) {
	return view.EvidenceCheck{}, view.TaskNotFound(company.NewState(), id)
}

func (unopened) FindLeftovers(context.Context, bool, bool) (upkeep.Report, error) {
	return upkeep.NewReport(true), nil
}

func (unopened) StreamTranscript(
	_ context.Context, run company.RunID, _ bool, _ func(agent.TranscriptEntry) error,
) error {
	return view.TaskNotFound(company.NewState(), string(run.Task()))
}

func (unopened) StreamRecord(_ context.Context, id company.TaskID, _ func(replay.Entry) error) error {
	return view.TaskNotFound(company.NewState(), string(id))
}

// IsFeedCut reports whether a feed was cut by the end of the other process.
func IsFeedCut(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
