package company

import (
	"fmt"
	"reflect"
)

// commandNames are what the ledger calls the commands that come under an id of
// their sender. A Go type may be renamed, its name here may not: it is part of
// the hashes that stand in ledgers, and a repeat from before would be taken for
// another wish.
var commandNames = map[reflect.Type]string{
	reflect.TypeFor[Submit]():              "company.Submit",
	reflect.TypeFor[Answer]():              "company.Answer",
	reflect.TypeFor[Cancel]():              "company.Cancel",
	reflect.TypeFor[Stop]():                "company.Stop",
	reflect.TypeFor[Resume]():              "company.Resume",
	reflect.TypeFor[Pause]():               "company.Pause",
	reflect.TypeFor[PauseSubtask]():        "company.PauseSubtask",
	reflect.TypeFor[RaiseBudget]():         "company.RaiseBudget",
	reflect.TypeFor[RaiseOfficeBudget]():   "company.RaiseOfficeBudget",
	reflect.TypeFor[SettlePR]():            "company.SettlePR",
	reflect.TypeFor[RecordPRFeedback]():    "company.HearPR",
	reflect.TypeFor[ScaleWorkers]():        "company.Staff",
	reflect.TypeFor[AddProject]():          "company.AddProject",
	reflect.TypeFor[RemoveProject]():       "company.RemoveProject",
	reflect.TypeFor[Tell]():                "company.Tell",
	reflect.TypeFor[Retry]():               "company.Retry",
	reflect.TypeFor[WorkOnPlan]():          "company.WorkOnPlan",
	reflect.TypeFor[EditPlan]():            "company.EditPlan",
	reflect.TypeFor[RecordRefusedAccess](): "company.NoteRefused",
}

// WishOf is the hash of what a command asks for. It tells a repeat of an id from
// another command under it.
func WishOf(c Command) (Hash, error) {
	name, ok := commandNames[reflect.TypeOf(c)]
	if !ok {
		return "", E(EInternal, fmt.Sprintf("%T has no name for the ledger, so it cannot come under an id of its sender", c))
	}
	wish, err := HashOf(map[string]any{"command": name, "fields": c})
	if err != nil {
		return "", E(EInvalid, "the command holds something that cannot be kept").Wrap(err)
	}
	return wish, nil
}
