package main

import (
	"errors"
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// named is a mutant that matters by itself, with the test that must notice. It
// is found by the function and the shape of the code, not by its text.
type named struct {
	name string
	in   string // the function, of a method Type.Name
	kind string
	is   []trait
	test string
}

var names = []named{
	{"drop the fence check", "State.claimedRun", drop, []trait{mentions("Fence"), lacks("Held"), guarding("EStale")},
		"TestOldFenceChangesNothing"},
	{"two owners of a run", "Claim.decide", drop, []trait{mentions("Held"), lacks("Ended"), guarding("EStale")},
		"TestFenceOnlyGrows"},
	{"let an older epoch claim", "Claim.decide", remove, []trait{mentions("EStale"), under("Office", "Epoch")},
		"TestOldEpochCannotClaim"},
	{"forget to void claims at a start", "OfficeStarted.apply", remove, []trait{mentions("voidClaims")},
		"TestStartVoidsClaims"},
	{"keep effects due after a stop", "State.findDue", drop, []trait{mentions("Stopped"), lacks("Epoch")},
		"TestNothingIsDueAfterStop"},
	{"allow main as a target", "IsProtectedBranch", drop, []trait{mentions(`"main"`), lacks(`"master"`)},
		"TestMainIsNeverIntegrationBranch"},
	{"take red for green", "GateResult.AllowsMerge", negate, nil, "TestRedGateSendsBack"},
	{"let a ticket pass that no test shows", "GateFinished.apply", drop, []trait{mentions("holdUnshown")},
		"TestRedGreenIsRequired"},
	{"skip the review of the whole", "State.canDeliver", drop, []trait{mentions("isWholeApproved")},
		"TestNoPullRequestWithoutReview"},
	{"take a part of a suite for all of it", "State.checkWholeVerdict", drop, []trait{mentions("isPart")},
		"TestFirstStepIsNotTheWhole"},
	{"keep the verdict of a first step for its tree", "State.cacheResult", drop, []trait{mentions("isPart")},
		"TestFirstStepMergesNothing"},
	{"merge while an intent is open", "State.checkMergeFront", drop, []trait{mentions("MergeIntent"), lacks("Head")},
		"TestOneMergeAtATime"},
	{"merge a red stack", "RecordStackGate.decide", negate, []trait{mentions("AllowsMerge")}, "TestRedStackBlamesNobody"},
	{"merge another head in a stack", "State.checkStack", drop, []trait{mentions("Head"), lacks("Review")},
		"TestStackThatChanged"},
	{"stack what waits for leave", "State.listMergeable", remove, []trait{under("isApproved")},
		"TestStackGoesWithoutWhatWaitsForLeave"},
	{"never look for the red one of a stack", "StackRed.apply", remove, []trait{mentions("Suspects")},
		"TestBadMembersAreFound"},
	{"suspect others for ever", "MergeGated.apply", remove, []trait{mentions("Suspects")},
		"TestRestOfARedStackIsStackedAgain"},
	{"test a stack while an intent is open", "State.checkMergeFront", drop,
		[]trait{mentions("StackIntent"), lacks("Head")}, "TestStackIsMergedAtOnce"},
	{"take an earlier stack for the next one", "RecordStackMerge.decide", drop,
		[]trait{mentions("Contains", "Merged"), lacks(`""`)}, "TestLateStackIsNotTheNextOne"},
	{"forget the cap", "Reserve.decide", drop, []trait{mentions("Within", "Cap"), lacks("One")}, "TestCapIsNeverPassed"},
	{"forget the caps of the day and the office", "Reserve.decide", drop, []trait{mentions("exceededBy"), lacks("Within")},
		"TestDayBudgetRestsTheOffice"},
	{"go on with yesterday's books", "OfficeSpending.startDay", remove, []trait{mentions("Today")},
		"TestDayBudgetRestsTheOffice"},
	{"apply events about runs that are not there", "State.validateTarget", drop, []trait{mentions("Runs", "RunOffered")},
		"TestNoOrphans"},
	{"archive while the books of a run are open", "State.checkArchivable", negate, []trait{mentions("Held", "Fence")},
		"TestArchiveRefusals"},
	{"archive without the questions", "TaskArchived.apply", remove,
		[]trait{mentions("delete", "Approvals"), lacks("ByKey")}, "TestArchiveTakesQuestionsAlong"},
	{"work on a plan without leave", "Offer.decide", drop, []trait{mentions("planStands"), lacks("IsReady")},
		"TestPlanWaitsForThePresident"},
	{"begin in front of what it comes after", "Task.IsReady", remove, []trait{under("SubtaskCompleted")},
		"TestAfterIsMergedFirst"},
	{"begin beside what it comes after", "Task.IsReady", drop, []trait{mentions("SubtaskCompleted"), lacks("nil")},
		"TestAfterIsMergedFirst"},
	{"offer what is not ready", "Offer.decide", drop, []trait{mentions("IsReady"), lacks("Started")},
		"TestAfterIsMergedFirst"},
	{"plan in a circle", "planCheck.checkOrder", remove, []trait{under("cycle"), mentions("add")}, "TestPlanAfterRefused"},
	{"record names in place of ids", "Plan.withIDs", remove, []trait{mentions("NewSubtaskID")}, "TestAfterIsMergedFirst"},
	{"give a model that the settings do not name", "EndRun.managerSays", remove, []trait{under("err")},
		"TestStuckSubtaskGetsAnotherModel"},
	{"take parts that no plan may have", "Guide.replan", remove, []trait{mentions("EPlan")}, "TestReplanIsChecked"},
	{"forget what comes after a subtask that is split", "SubtaskReplanned.apply", remove,
		[]trait{mentions("other", "part"), under("Contains")}, "TestStuckSubtaskIsSplit"},
	{"forget the model that was given", "SubtaskGuided.apply", remove, []trait{mentions("Or", "Model")},
		"TestStuckSubtaskGetsAnotherModel"},
	{"send a ticket back before the second look", "ReviewRecorded.apply", negate, []trait{mentions("AwaitsSecondReview")},
		"TestSecondReviewerJudgesFindings"},
	{"look a second time for ever", "Task.AwaitsSecondReview", drop, []trait{mentions("Confirms"), lacks("Head")},
		"TestSecondReviewerJudgesFindings"},
	{"look twice at an approval without findings", "Task.AwaitsSecondReview", drop, []trait{mentions("Findings")},
		"TestFindingsOfAnApprovalAreJudged"},
	{"look at an approval for ever", "Task.AwaitsSecondReview", drop, []trait{mentions("Unconfirmed")},
		"TestFirstApprovalStands"},
	{"look a second time at what the president let pass", "Task.AwaitsSecondReview", drop,
		[]trait{mentions("Waived"), lacks("Unconfirmed")}, "TestWaivedWholeHoldsByItself"},
	{"look again at what went back unconfirmed", "Task.reviewerEnded", remove,
		[]trait{mentions("Unconfirmed", "Head"), lacks("Current")}, "TestHeadIsHandedInAgainAfterABrokenSecondLook"},
	{"open the pull request before the second look", "Task.isWholeApproved", drop,
		[]trait{mentions("AwaitsSecondReview"), lacks("Allows")}, "TestSecondReviewOfAnApprovedWhole"},
	{"take a plan of too many subtasks", "planCheck.checkCount", remove, []trait{mentions("add")},
		"TestGranularityOfATask"},
	{"take a subtask of too many paths", "planCheck.checkGranularity", remove, []trait{mentions("add", "MaxWriteSet")},
		"TestGranularityIsSet"},
	{"take a subtask that is too large", "planCheck.checkGranularity", remove, []trait{mentions("add", "MaxEffort")},
		"TestGranularityOfATask"},
	{"work before there is an image", "Offer.decide", drop, []trait{mentions("mayWork"), lacks("IsReady")},
		"TestWorkWaitsForTheImage"},
	{"work before the base is judged", "State.mayWork", drop, []trait{mentions("baselineKnown"), lacks("IsPrepared")},
		"TestWorkWaitsForTheBaseline"},
	{"take a plan of an old base", "EndRun.managerSays", remove, []trait{under("plansOnOldBase")},
		"TestPlanOfAnOldBaseIsDropped"},
	{"keep the plan when the base moves", "TaskBased.apply", remove, []trait{mentions("Subtasks")},
		"TestMovedBaseIsReplanned"},
	{"take an image of another base", "RecordPreparation.decide", drop, []trait{mentions("startsFrom"), lacks("imageDue")},
		"TestLateImageIsNotTaken"},
	{"plan while the base is looked for", "State.mayPlan", drop, []trait{mentions("looksForBase"), lacks("hasGates")},
		"TestNoPlanWhileTheBaseIsLookedFor"},
}

// trait is something that is true of a mutant and of few others.
type trait struct {
	says string
	is   func(*mutant) bool
}

// mentions holds for mutants whose changed node has these names or literals.
func mentions(words ...string) trait {
	return trait{"mentions " + strings.Join(words, " and "), func(m *mutant) bool { return has(m.node, words) }}
}

// lacks: it does not have this name in it.
func lacks(word string) trait {
	return trait{"lacks " + word, func(m *mutant) bool { return !has(m.node, []string{word}) }}
}

// guarding: it is in the condition of an if whose body has these names in it.
func guarding(words ...string) trait {
	return trait{"is in the condition of the if whose body mentions " + strings.Join(words, " and "),
		func(m *mutant) bool {
			branch := innermostIf(m)
			return branch != nil && m.node.Pos() < branch.Body.Pos() && has(branch.Body, words)
		}}
}

// under: it is in the body of an if whose condition has these names in it.
func under(words ...string) trait {
	return trait{"is under the if whose condition mentions " + strings.Join(words, " and "), func(m *mutant) bool {
		branch := innermostIf(m)
		return branch != nil && m.node.Pos() > branch.Body.Pos() && has(branch.Cond, words)
	}}
}

func innermostIf(m *mutant) *ast.IfStmt {
	for _, n := range slices.Backward(m.within) {
		if branch, ok := n.(*ast.IfStmt); ok {
			return branch
		}
	}
	return nil
}

// has says whether all words are names or literals within a node.
func has(n ast.Node, words []string) bool {
	found := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			found[n.Name] = true
		case *ast.BasicLit:
			found[n.Value] = true
		}
		return true
	})
	return !slices.ContainsFunc(words, func(w string) bool { return !found[w] })
}

func (n named) String() string {
	says := make([]string, 0, len(n.is))
	for _, t := range n.is {
		says = append(says, t.says)
	}
	return fmt.Sprintf("%q (kind %s in %s, which %s)", n.name, n.kind, n.in, strings.Join(says, ", and "))
}

// find finds the one mutant that is meant.
func (n named) find(all []*mutant) (*mutant, error) {
	var found, near []*mutant
	for _, m := range all {
		if m.function() != n.in {
			continue
		}
		if m.kind != n.kind {
			continue
		}
		near = append(near, m)
		if !slices.ContainsFunc(n.is, func(t trait) bool { return !t.is(m) }) {
			found = append(found, m)
		}
	}
	switch {
	case len(near) == 0:
		return nil, fmt.Errorf("%s: there is no such function, or nothing of that kind in it; if the function has a new "+
			"name, give it in test/mutants/named.go", n)
	case len(found) == 1:
		return found[0], nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s is found %d times, not once; those of that kind in that function:", n, len(found))
	for _, m := range near {
		fmt.Fprintf(&b, "\n  %s:%d %s => %s", m.file.name, m.line(), m.before(), m.after())
	}
	return nil, errors.New(b.String())
}
