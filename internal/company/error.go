package company

import (
	"errors"
	"strings"
)

// Code is a stable name of a kind of error, shown to people and programs
// (E_CONFIG, E_BUDGET, ...). Codes are only ever added.
type Code string

// The codes of the whole program. A package adds its own here, so that one name
// never has two meanings.
const (
	EInternal  Code = "E_INTERNAL"  // a bug of ours
	EInvalid   Code = "E_INVALID"   // a request that can never be carried out as it is
	ENotFound  Code = "E_NOT_FOUND" // the named object does not exist
	EConflict  Code = "E_CONFLICT"  // the state has moved on; look again
	EStale     Code = "E_STALE"     // an old fence or epoch: the sender no longer owns the run
	EStopped   Code = "E_STOPPED"   // the office or the task is stopped
	EBudget    Code = "E_BUDGET"    // a cap would be passed
	EPlan      Code = "E_PLAN"      // a plan that code refuses
	EProtected Code = "E_PROTECTED" // main, master or a protected path as a target
	EConfig    Code = "E_CONFIG"    // company.yaml
	EUsage     Code = "E_USAGE"     // wrong command line
	EHeld      Code = "E_HELD"      // another process holds the office
	EDocker    Code = "E_DOCKER"    // the daemon is absent or refuses
	EPolicy    Code = "E_POLICY"    // a container is not what the policy says
	ELost      Code = "E_LOST"      // a container ended while an agent worked in it
	EImage     Code = "E_IMAGE"     // no worker image can be made
	EGit       Code = "E_GIT"       // git says no
	EHostKey   Code = "E_HOST_KEY"  // an ssh server that is not known, or has another key than before
	EObjects   Code = "E_OBJECTS"   // a pushed object that the checks refuse
	EGates     Code = "E_GATES"     // gates missing or unable to start
	EModel     Code = "E_MODEL"     // the model's server
	EModelAuth Code = "E_MODEL_AUTH"
	EBus       Code = "E_BUS"
	ELedger    Code = "E_LEDGER" // damage in the ledger
	ETimeout   Code = "E_TIMEOUT"
	EForge     Code = "E_FORGE"
	ERegistry  Code = "E_REGISTRY" // a package registry does not answer
	EAuth      Code = "E_AUTH"     // a forge or a remote refuses the login
	EAccess    Code = "E_ACCESS"   // the office's own address lets nobody in without a token
	EWaiting   Code = "E_WAITING"  // a person must answer first
	EDiverged  Code = "E_DIVERGED" // a replay differs from its record
	EOutput    Code = "E_OUTPUT"   // the result cannot be written
	EEvidence  Code = "E_EVIDENCE" // a review whose evidence does not stand
	ECrash     Code = "E_CRASH"    // a record at which the process died again and again
)

// Class says whether a retry, a person or neither can mend an error (ERR-1).
type Class string

const (
	Recoverable   Class = "recoverable"    // trying again later may help
	HumanRequired Class = "human_required" // a person must change something
	Fatal         Class = "fatal"          // this run of the program cannot go on
)

// Error is the one error type that crosses a room's boundary: what happened
// (Message), why (Why), and what to do next (Hint).
type Error struct {
	Code    Code   `json:"code"`
	Class   Class  `json:"class,omitempty"`
	Op      string `json:"op,omitempty"`      // what was being done, e.g. "read company.yaml"
	Message string `json:"message"`           // one sentence for people
	Why     string `json:"why,omitempty"`     // the cause, when it is known
	Hint    string `json:"hint,omitempty"`    // what to do next, a command where there is one
	Err     error  `json:"-"`                 // the cause
	RunID   RunID  `json:"run_id,omitempty"`  //
	Details string `json:"details,omitempty"` // long text, shown with -v

	Line *ConfigLine `json:"-"` // a line of the config that mends it, where one is known

	CurrentTask  TaskID     `json:"current_task,omitempty"`  // unfinished, and in the way
	CurrentState TaskStatus `json:"current_state,omitempty"` // of that task
}

// E makes an error with a code and a message for people.
func E(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// Because adds the reason.
func (e *Error) Because(why string) *Error { c := *e; c.Why = why; return &c }

// Fix adds what to do next.
func (e *Error) Fix(hint string) *Error { c := *e; c.Hint = hint; return &c }

// MendedBy adds a line of the config that mends it.
func (e *Error) MendedBy(l ConfigLine) *Error { c := *e; c.Line = &l; return &c }

// NeedsPerson says that only a person can mend it: trying again is no use.
func (e *Error) NeedsPerson() *Error { c := *e; c.Class = HumanRequired; return &c }

// Wrap adds the cause. A nil cause leaves the error as it is.
func (e *Error) Wrap(err error) *Error { c := *e; c.Err = err; return &c }

func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op)
		b.WriteString(": ")
	}
	b.WriteString(e.Message)
	if e.Why != "" {
		b.WriteString(": ")
		b.WriteString(e.Why)
	}
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Is matches by code, so that errors.Is(err, company.E(company.EStale, ""))
// compares the kind of error and not its text.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Message == ""
}

// NeedsPerson reports whether err itself says that only a person can mend it. The class of
// its code does not count: work goes on by itself until an error says otherwise.
func NeedsPerson(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Class == HumanRequired
}

// DetailsOf is the long text of err, "" when it has none.
func DetailsOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Details
	}
	return ""
}

// CodeOf tells the code of err: EInternal for a foreign error, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return EInternal
}

// ErrUnended is wrapped by the error of a stop that did not wait for all that was under
// way. The process must end.
var ErrUnended = errors.New("not everything that was under way has ended")
