package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"company/internal/company"
	"company/internal/office/config"
	"company/internal/present/view"
)

// Desk gives access to data outside of an office's state: checkouts, configs, git objects and the
// machine. Its methods are safe for concurrent use and end with ctx. Errors are the company's own.
type Desk interface {
	// PrepareSubmission validates a submission on this machine and returns its command. It submits
	// nothing.
	PrepareSubmission(ctx context.Context, s view.Submission) (company.Submit, error)
	// Patch returns the unified diff of a range.
	Patch(ctx context.Context, r view.Range) (view.Patch, error)
	// PullPage returns a pull request with its evidence.
	PullPage(ctx context.Context, r view.PullRecord) (view.PullText, error)
	// SyncPulls asks the forge about open pull requests, and calls do with the answers. The failure
	// of one is in its result.
	SyncPulls(ctx context.Context, pulls []view.PullRecord, do func(company.RecordPRFeedback) (company.TaskID, error)) (
		[]view.PullSync, error)
	// ClosePull closes an open pull request on its forge. It does nothing for one without a forge.
	ClosePull(ctx context.Context, r view.PullRecord, why string) error
	// Diagnose runs the checks of doctor. With online it includes checks that ask servers.
	Diagnose(ctx context.Context, online bool) (view.Diagnosis, error)
	// Config lists the config of a project. An empty project means the office.
	Config(ctx context.Context, project string) (view.ConfigList, error)
	// ChangeConfig changes one key of the office's company.yaml.
	ChangeConfig(ctx context.Context, c config.Change) (config.ChangeReport, error)
}

// deskTime limits a request to the desk, which may fetch a remote.
const deskTime = 2 * time.Minute

// SetDesk sets the server's desk. Call it before Start. Without a desk its routes return
// E_CONFLICT.
func (s *Server) SetDesk(d Desk) { s.desk = d }

// deskRoutes lists the routes that the desk answers.
var deskRoutes = []Route{
	newDeskRoute("diffs/{id}", "unified diff, at most 8 MiB", view.Patch{},
		func(ctx context.Context, s *Server, r *http.Request) (any, error) {
			of, err := s.source().Range(r.PathValue("id"))
			if err != nil {
				return nil, err
			}
			if of.Context, err = parseContext(r.URL.Query().Get("context")); err != nil {
				return nil, err
			}
			return s.desk.Patch(ctx, of)
		}, Parameter{Name: "context", Type: "integer",
			Doc: "context lines, 1–100000 (default: 3)"}),
	newDeskRoute("prs/{id}/page", "text of a pull request", view.PullText{},
		func(ctx context.Context, s *Server, r *http.Request) (any, error) {
			record, err := s.source().PullRecord(r.PathValue("id"))
			if err != nil {
				return nil, err
			}
			return s.desk.PullPage(ctx, record)
		}),
	newDeskRoute("doctor", "checks of machine and office", view.Diagnosis{},
		func(ctx context.Context, s *Server, r *http.Request) (any, error) {
			return s.desk.Diagnose(ctx, r.URL.Query().Get("online") == "true")
		}, Parameter{Name: "online", Type: "boolean",
			Doc: "include models, remote, forge and registries"}),
	newDeskRoute("config", "config with values and sources", view.ConfigList{},
		func(ctx context.Context, s *Server, r *http.Request) (any, error) {
			project, err := s.limitProject(ctx, r.URL.Query().Get("project"))
			if err != nil {
				return nil, err
			}
			return s.desk.Config(ctx, project)
		}, Parameter{Name: "project", Type: "string", Doc: "a project's config (default: the office's)"}),
	{Method: http.MethodPost, Path: "submissions",
		Summary: "submit an instruction, like `company submit`",
		Body:    view.Submission{}, Answer: CommandResult{}, serve: (*Server).serveSubmission},
}

// maxContext is the number of context lines that shows whole files in a patch.
const maxContext = 100_000

// parseContext parses the number of unchanged lines around a change. It returns 0, the default,
// for "".
func parseContext(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxContext {
		return 0, company.E(company.EInvalid, "context is a number of lines from 1 to "+strconv.Itoa(maxContext)).
			Fix("leave it out for 3 lines")
	}
	return n, nil
}

// newDeskRoute returns the route of a resource that the desk answers.
func newDeskRoute(
	path, summary string, answer any, ask func(ctx context.Context, s *Server, r *http.Request) (any, error),
	query ...Parameter,
) Route {
	return Route{Method: http.MethodGet, Path: path, Summary: summary, Query: query, Answer: answer,
		serve: func(server *Server, w http.ResponseWriter, r *http.Request) {
			ctx, cancel, err := server.askDesk(r.Context())
			defer cancel()
			var v any
			if err == nil {
				v, err = ask(ctx, server, r)
			}
			if err != nil {
				writeError(w, orEnding(r, err))
				return
			}
			server.writeResource(w, r, v)
		}}
}

// askDesk limits the time of a request to the desk. It returns EConflict if there is no desk.
func (s *Server) askDesk(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if s.desk == nil {
		return ctx, func() {}, company.E(company.EConflict, "this process has no access to checkouts and configs").
			Fix("ask the company at work: company serve")
	}
	ctx, cancel := context.WithTimeoutCause(
		ctx, deskTime, company.E(company.EHeld, "the machine did not answer in time").
			Because(deskTime.String()+" have passed").Fix("do it again; company doctor looks for what is slow"))
	return ctx, cancel, nil
}

func (s *Server) serveSubmission(w http.ResponseWriter, r *http.Request) {
	result, err := s.submitTask(r)
	if err != nil {
		writeError(w, orEnding(r, err))
		return
	}
	writeJSON(w, result)
}

// submitTask validates a submission and submits it to the office. Its id comes from the header
// Idempotency-Key. A repeat returns the task of the first request, even if the config has changed.
func (s *Server) submitTask(r *http.Request) (CommandResult, error) {
	var submission view.Submission
	if err := decodeReader(r.Body, &submission); err != nil {
		if large := new(http.MaxBytesError); errors.As(err, &large) {
			return CommandResult{}, tooLarge(large.Limit)
		}
		return CommandResult{}, company.E(company.EInvalid, "the submission is not what was expected").Wrap(err).
			Fix(s.sameVersion())
	}
	id, err := commandID("", r.Header.Values("Idempotency-Key"))
	if err != nil {
		return CommandResult{}, err
	}
	if id == "" {
		id = NewCommandID()
	}
	st := s.office.Source().State
	if task := st.SubmittedBy(company.President, id); task != "" {
		if t := st.Tasks[task]; t != nil && t.Instruction != submission.Instruction {
			return CommandResult{}, company.E(company.EConflict, "another instruction was submitted under this id").
				Fix("send each submission with an id of its own")
		}
		return CommandResult{Events: []company.Event{}, Task: task}, nil
	}
	ctx, cancel, err := s.askDesk(r.Context())
	defer cancel()
	if err != nil {
		return CommandResult{}, err
	}
	if submission.Project, err = s.limitProject(ctx, submission.Project); err != nil {
		return CommandResult{}, err
	}
	submit, err := s.desk.PrepareSubmission(ctx, submission)
	if err != nil {
		return CommandResult{}, err
	}
	evs, err := s.office.DoID(ctx, id, company.President, submit)
	if err != nil {
		return CommandResult{}, err
	}
	return CommandResult{Events: append([]company.Event{}, evs...),
		Task: s.office.Source().State.SubmittedBy(company.President, id)}, nil
}
