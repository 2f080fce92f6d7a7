package company

import "testing"

// The wishes are those that an office kept before types were renamed: a repeat of
// an id from then is still known for what it is.
func TestWishesOfOlderOffices(t *testing.T) {
	t.Parallel()
	wishes := []struct {
		c    Command
		want Hash
	}{
		{Submit{Instruction: "do it", Project: Project{ID: "p", Path: "/p"}, Settings: Settings{Plan: Ask}},
			"85166094d9d69cab966537cb1f210843fa1433d47648cd6e4698b37b39347786"},
		{Answer{Approval: "a1", Option: OptApprove, Raise: Amount{Tokens: 5}},
			"8580cbed40fe552dc805b57cdfdf3420480fea03035b8d5561a66b6b74fa2da3"},
		{Cancel{Task: "t1"}, "d5a9bb888ea615c604c24a1113cb44fc981b3f471685c15696962be98c165cec"},
		{Stop{Why: "x"}, "28973399d72fa73b8d6ae5bcdeec793f9d43db6aa9c51ea5e15ef0b2c59c7318"},
		{Resume{}, "bdebe58d98e5dc6e53aff43a384947a32efb4b88da2de510af14f06aafd47207"},
		{Pause{Task: "t1", Off: true}, "5c2e8385be8f6e47015dac190fff7b6fa73e82dcaa643a0da5704550bb0d4a98"},
		{PauseSubtask{Subtask: "t1-02", Off: true}, "2753a9161b7f31021422d319bc75720a74a89b93a39685d140fa482927422c8b"},
		{RaiseBudget{Task: "t1", By: Amount{MicroUSD: 5}},
			"4948ae2e346fa1008b41f8560516bd0321b6b5e53d47a279fce2df7d71491600"},
		{RaiseOfficeBudget{Scope: ScopeDay, By: Amount{MicroUSD: 5}},
			"cb62f4f2009bfa4295ef8f218e49236fa380541a992a73ac23fda9bd8be7b921"},
		{SettlePR{Task: "t1", State: PRMerged}, "e9559cf0c4e7ae414b7012149ad63a717377ac098ab217ca324471672146e945"},
		{RecordPRFeedback{Task: "t1", Items: []FeedbackItem{{Kind: "comment", Text: "x"}}},
			"32baab93badef4b1b7397e5233c038373d5a7779630b790a8f39c8eacd3728c8"},
		{ScaleWorkers{By: 2, Worker: "w1"}, "9a66537e6368843c8ab3c52f4e510b33ac8a4568e3dbea4545ff59b9f9e6a7e5"},
		{AddProject{Project: Project{ID: "p", Path: "/p"}},
			"f22967b12255212d0f3058d087ce1c7d672da9fb7b1608d25812c3a66501f57a"},
		{RemoveProject{ID: "p"}, "153c008ae9b620467a8b049af7348e2d2a703c1c3afe45030d6aba294e9e844c"},
		{Tell{Subtask: "t1-01", Text: "x"}, "1dad7f0c5f15c6c0ce413b6f6650b59736f521c69c107f8a50e26d476d06fae6"},
		{Retry{Task: "t1", From: "t1-02"}, "9973d9b15701a0dbe6308cbbb5bb167c0185162912fc314510740e4762caf84d"},
		{WorkOnPlan{Task: "t1"}, "8f939c31579c89775d6159853fc33b70034cf90969f335be230ce659183a061c"},
		{RollBack{Run: "t1-01.1"}, "8f82c7695c7096f683324f70ddef4390ab8a92998b34eafcf67f335a0854df71"},
		{EditPlan{Task: "t1", Question: "a1", Plan: Plan{Why: "x"}},
			"fab1e808b78d2f96948c24a3a762090fd1f233359c5791c72d6a0fc852a97449"},
		{RecordRefusedAccess{Run: "t1-01.1", Kind: "path", What: "x", Times: 2},
			"d6a9f9eea337a5b7e4a64e815a737f941c95c3ddf96e6189914e7be923be2402"},
	}
	for _, w := range wishes {
		if got, err := WishOf(w.c); got != w.want || err != nil {
			t.Errorf("%T: %s, %v", w.c, got, err)
		}
	}
	if len(wishes) != len(commandNames) {
		t.Errorf("%d wishes of %d commands", len(wishes), len(commandNames))
	}
	if _, err := WishOf(Claim{}); CodeOf(err) != EInternal {
		t.Errorf("a command without a name: %v", err)
	}
}
