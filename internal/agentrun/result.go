package agentrun

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"company/internal/agentrun/runfiles"
	"company/internal/company"
	"company/internal/gitops"
)

// keepTranscript keeps the transcript for the sealed result, and queues it to be written as a file in the
// background.
func (s *Session) keepTranscript(text []byte) {
	s.said = text
	s.service.Files.Put(s.Run, runfiles.TranscriptFile, text)
}

// sealJournal completes out with the spending of the run, and stores the journal, the result and the transcript
// as blobs. The ledger refers to the blobs. Without journal and result the run does not end, and continues later
// from its journal.
func (s *Session) sealJournal(ctx context.Context, out *company.RunEnded) error {
	out.Spent = s.allowance.Balance().Spent
	out.Turns = s.turns
	out.Heard = s.heard
	out.Models = s.byModel
	var beside sync.WaitGroup // both wait for the disk
	if len(s.said) > 0 {
		beside.Go(func() {
			err := company.Guard("keeping a transcript", func() (err error) {
				s.transcript, _, err = s.service.Ledger.PutBlob(ctx, bytes.NewReader(s.said))
				return err
			})
			if err != nil { // the journal contains the whole transcript
				s.service.Logger.WarnContext(ctx, "the transcript is in the journal alone", "run_id", s.Run, "err", err)
			}
		})
	}
	var err error
	out.Journal, err = s.journal.Seal(ctx)
	beside.Wait()
	if err != nil {
		return fmt.Errorf("seal the journal of %s: %w", s.Run, err)
	}
	text, hash, err := s.keepResult(ctx, *out)
	if err != nil {
		return err
	}
	out.Result = hash
	s.service.Files.Put(s.Run, runfiles.ResultFile, text)
	return nil
}

// keepResult stores the result of the run as a blob.
func (s *Session) keepResult(ctx context.Context, out company.RunEnded) ([]byte, company.Hash, error) {
	commits, err := s.listCommits(ctx, out.Head)
	if err != nil {
		return nil, "", err
	}
	text, err := s.buildResult(out, commits).Marshal()
	if err != nil {
		return nil, "", err
	}
	hash, _, err := s.service.Ledger.PutBlob(ctx, bytes.NewReader(text))
	if err != nil {
		err = fmt.Errorf("keep the result of %s: %w", s.Run, err)
	}
	return text, hash, err
}

// listCommits returns the commits of the run up to head.
func (s *Session) listCommits(ctx context.Context, head company.OID) ([]company.OID, error) {
	if head == "" || s.Sandbox == nil {
		return nil, nil
	}
	return s.Sandbox.ListCommits(ctx, head)
}

func (s *Session) buildResult(out company.RunEnded, commits []company.OID) runfiles.ExecutionResult {
	ticket, _ := gitops.Ticket(s.Run) // the id was checked when the session began
	res := runfiles.ExecutionResult{
		RunID: s.Run, TicketID: ticket, AgentID: s.Worker, Status: out.Status, StartTime: s.Claimed.Claimed,
		EndTime:   s.service.Now().UTC(),
		GitBranch: out.Branch, Turns: s.turns, TokensUsed: out.Spent.Tokens, Summary: out.Summary,
		Journal: out.Journal, Transcript: s.transcript,
	}
	if s.briefing != (company.Briefing{}) {
		res.Briefing = &s.briefing
	}
	if out.Spent.MicroUSD > 0 {
		usd := out.Spent.MicroUSD
		res.CostMicroUSD = &usd
	}
	for _, c := range commits {
		res.Commits = append(res.Commits, string(c))
	}
	if out.Error != "" {
		res.Errors = []string{out.Error}
	}
	for _, c := range out.Changes {
		res.Artifacts = append(res.Artifacts, runfiles.Artifact{Path: c.Path, Action: c.Action, Hash: c.Hash})
	}
	return res
}
