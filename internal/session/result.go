package session

import (
	"bytes"
	"context"
	"fmt"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/runfiles"
)

// keepTranscript keeps the conversation as a blob, and has it written as a file that
// people find; no run waits for that. The journal holds all of it too, so a failure loses nothing: the result
// names no blob that is not there, and the ledger records the missing file.
func (s *Session) keepTranscript(ctx context.Context, text []byte) {
	h, _, err := s.service.Ledger.PutBlob(ctx, bytes.NewReader(text))
	if err != nil {
		s.service.Logger.WarnContext(ctx, "the transcript is in the journal alone", "run_id", s.Run, "err", err)
	}
	s.transcript = h
	s.service.Files.Put(s.Run, runfiles.TranscriptFile, text)
}

// sealJournal closes the books of the run: what it spent, its journal as a blob, and
// its result. The blobs are what the ledger names: without them the run does not
// end, and goes on later from its journal.
func (s *Session) sealJournal(ctx context.Context, out *company.RunEnded) error {
	out.Spent, out.Turns, out.Heard, out.Models = s.allowance.Balance().Spent, s.turns, s.heard, s.byModel
	hash, err := s.journal.Seal(ctx)
	if err != nil {
		return fmt.Errorf("seal the journal of %s: %w", s.Run, err)
	}
	out.Journal = hash
	res, err := s.buildResult(*out).Marshal()
	if err != nil {
		return err
	}
	if out.Result, _, err = s.service.Ledger.PutBlob(ctx, bytes.NewReader(res)); err != nil {
		return fmt.Errorf("keep the result of %s: %w", s.Run, err)
	}
	s.service.Files.Put(s.Run, runfiles.ResultFile, res)
	return nil
}

func (s *Session) buildResult(out company.RunEnded) runfiles.ExecutionResult {
	ticket, _ := gitops.Ticket(s.Run) // the id was read when the session began
	res := runfiles.ExecutionResult{
		RunID: s.Run, TicketID: ticket, AgentID: s.Worker, Status: out.Status, StartTime: s.Claimed.Claimed, EndTime: s.service.Now().UTC(),
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
	if out.Head != "" {
		res.Commits = []string{string(out.Head)}
	}
	if out.Error != "" {
		res.Errors = []string{out.Error}
	}
	for _, c := range out.Changes {
		res.Artifacts = append(res.Artifacts, runfiles.Artifact{Path: c.Path, Action: c.Action})
	}
	return res
}
