//! What machines are made with that stands in no journal entry: what secrets hold, read right before the call and kept by
//! nobody; the token that its agent joins with, drawn right before the call; and the nonce, which follows from the journal.

use std::sync::Arc;

use uuid::Uuid;

use super::Services;
use crate::{
    contract::PolicyInForce,
    machine::rules::{InForce, token},
    ports::{Blot, BulkAnswer, CreateMachine, Device, Enrolment, MachineProvider, SecretData, Secrets, StartedMachine},
    vocab::{ClassCopy, Fault, FaultCode, Name, Nonce, Timestamp},
};

/// Where what is added to a wish right before the call comes from.
#[derive(Clone)]
pub(super) struct Outfit<'a> {
    pub secrets: Option<&'a dyn Secrets>,
    pub enrolment: Option<&'a dyn Enrolment>,
    pub journal: Uuid,
    pub now: Timestamp,
    /// How long an agent may take to join, where its machine says nothing else.
    pub policy: Arc<PolicyInForce>,
}

impl<'a> Outfit<'a> {
    pub(super) fn of(services: &'a Services) -> Self {
        Self {
            secrets: services.providers.secrets.as_deref(),
            enrolment: services.providers.enrolment.as_deref(),
            journal: services.journal_id(),
            now: services.now(),
            policy: services.policy(),
        }
    }

    /// The machine with what it is made with. What its provider must not tell on of that is added to `told`.
    fn fit(&self, machine: CreateMachine, told: &mut Told) -> Result<CreateMachine, Fault> {
        let mut secrets = match &machine.class {
            Some(class) => held(self.secrets, class)?,
            None => SecretData::default(),
        };
        let in_force = InForce::of(&machine.spec.patience, &self.policy.document.reconciliation);
        let issue = |enrolment: &dyn Enrolment| enrolment.issue(machine.id, self.now, in_force.creation_timeout_ms);
        let join = self.enrolment.map(issue).transpose()?;
        if let Some(join) = &join {
            secrets.place(USER_DATA, |text| token::placed(text, join.reveal()));
        }
        join.iter().for_each(|join| told.tokens.add_bytes("the token to join with", join.reveal().as_bytes()));
        told.add(&secrets);
        let nonce = Some(Nonce::of(self.journal, machine.id));
        Ok(CreateMachine { secrets, nonce, join, ..machine })
    }
}

/// The key under which a class's secret has what an instance does at its first start.
const USER_DATA: &str = "userData";

/// All that a provider is told of a batch of machines and must not tell on: in no answer, whichever machine it is about.
#[derive(Default)]
struct Told {
    /// What the classes hold. All forms of a long secret take milliseconds to write down, so machines that are told the same
    /// share them: those of one class, unless a token stands in its user data.
    secrets: Vec<(SecretData, Blot)>,
    /// The tokens that they join with.
    tokens: Blot,
}

impl Told {
    fn add(&mut self, secrets: &SecretData) {
        if self.secrets.iter().all(|(known, _)| known != secrets) {
            self.secrets.push((secrets.clone(), secrets.blot()));
        }
    }

    /// A text without it.
    fn out(&self, text: &str) -> String {
        let blots: Vec<&Blot> = self.secrets.iter().map(|(_, blot)| blot).chain([&self.tokens]).collect();
        Blot::out_of_all(&blots, text).into_owned()
    }

    /// A fault without it.
    fn quiet(&self, fault: Fault) -> Fault {
        Fault::new(fault.code, self.out(&fault.text))
    }

    /// An answer without it. An id would name nothing any more without a part of it, so it is not taken.
    fn discreet(&self, answer: Result<StartedMachine, Fault>) -> Result<StartedMachine, Fault> {
        let mut made = answer.map_err(|fault| self.quiet(fault))?;
        let has_secret = |text: &String| self.out(text) != *text;
        if has_secret(&made.instance.instance.0) {
            let text = "the provider's id for it contains a secret, so it is rejected";
            return Err(Fault::new(FaultCode::Unknown, text));
        }
        if made.network.iter().flat_map(Device::texts).chain(made.storage.texts()).any(has_secret) {
            let text = "what the provider tells of its network or its volumes contains a secret, so it is rejected";
            return Err(Fault::new(FaultCode::Unknown, text));
        }
        let facts = &mut made.instance.facts;
        *facts = facts.iter().map(|(key, value)| (self.out(key), self.out(value))).collect();
        Ok(made)
    }
}

impl Services {
    /// Has machines made, each with what the secret of its class holds and with the token that its agent joins with.
    pub(crate) fn create_machines<'a>(
        &self,
        provider: &'a dyn MachineProvider,
        machines: Vec<CreateMachine>,
    ) -> BulkAnswer<'a, StartedMachine> {
        create(provider, Outfit::of(self), machines)
    }
}

/// Makes machines with what the secrets of their classes hold. A machine whose secrets cannot be read fails alone, before
/// anything was made for it.
fn create<'a>(
    provider: &'a dyn MachineProvider,
    outfit: Outfit<'_>,
    machines: Vec<CreateMachine>,
) -> BulkAnswer<'a, StartedMachine> {
    let mut wanted = Vec::new();
    let mut told = Told::default();
    let mut faults: Vec<Option<Fault>> = Vec::new();
    for machine in machines {
        match outfit.fit(machine, &mut told) {
            Ok(machine) => {
                wanted.push(machine);
                faults.push(None);
            }
            Err(fault) => faults.push(Some(fault)),
        }
    }
    if wanted.is_empty() {
        return Box::pin(std::future::ready(Ok(faults.into_iter().flatten().map(Err).collect())));
    }
    let asked = wanted.len();
    let making = provider.create(wanted);
    Box::pin(async move {
        let made = making.await.map_err(|fault| told.quiet(fault))?;
        if made.len() != asked {
            let text = format!("the provider gave {} answers to {asked} questions", made.len());
            return Err(Fault::new(FaultCode::Unknown, text));
        }
        // A provider that was told a secret does not tell it on.
        let mut made = made.into_iter().map(|answer| told.discreet(answer));
        let unanswered = || Err(Fault::new(FaultCode::Internal, "a machine has no answer"));
        Ok(faults
            .into_iter()
            .map(|fault| match fault {
                Some(fault) => Err(fault),
                None => made.next().unwrap_or_else(unanswered),
            })
            .collect())
    })
}

/// What the secrets of a class hold together.
fn held(secrets: Option<&dyn Secrets>, class: &ClassCopy) -> Result<SecretData, Fault> {
    let cannot = |text: String| Fault::new(FaultCode::FailedPrecondition, text);
    let mut all = SecretData::default();
    for name in class.content.secrets() {
        let Some(secrets) = secrets else {
            return Err(cannot(format!("its class names secret {name}, and this node has no secrets")));
        };
        all.join(secrets.read(name)?).map_err(|key| cannot(two_of_a_key(class, &key)))?;
    }
    Ok(all)
}

fn two_of_a_key(class: &ClassCopy, key: &str) -> String {
    let names: Vec<&str> = class.content.secrets().map(Name::as_str).collect();
    format!(
        "secrets {} of class {} both have the key `{key}`, with different values: rename it in one of them",
        names.join(" and "),
        class.class
    )
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeMap,
        future::{Future, ready},
        pin::pin,
        sync::Mutex,
        task::{Context, Poll, Waker},
    };

    use super::*;
    use crate::{
        machine::{Spec, rules::Overrides},
        policy::Document,
        ports::{Answer, InstanceStatus, JoinToken, Listing, MachineInstance},
        vocab::{ClassContent, EffectId, InstanceId, Uid},
    };

    /// A provider that tells on what it was told.
    #[derive(Default)]
    struct Talkative(Mutex<Vec<CreateMachine>>);

    impl MachineProvider for Talkative {
        fn create(&self, machines: Vec<CreateMachine>) -> BulkAnswer<'_, StartedMachine> {
            let answer = |machine: &CreateMachine| match machine.secrets.reveal().get("userData") {
                Some(data) => Err(Fault::new(FaultCode::Internal, format!("no luck with {data} and id.sesame"))),
                None => Ok(StartedMachine::from(MachineInstance {
                    effect: machine.id,
                    instance: InstanceId("i-1".into()),
                    machine: machine.machine.clone(),
                    facts: BTreeMap::from([("joins with".to_owned(), "id.sesame".to_owned())]),
                    status: InstanceStatus::Running,
                })),
            };
            let answers = machines.iter().map(answer).collect();
            *self.0.lock().unwrap() = machines;
            Box::pin(ready(Ok(answers)))
        }

        fn delete(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
            Box::pin(ready(Ok(ids.iter().map(|_| Ok(())).collect())))
        }

        fn list(&self) -> Answer<'_, Result<Listing<MachineInstance>, Fault>> {
            Box::pin(ready(Err(Fault::new(FaultCode::Unimplemented, "no"))))
        }
    }

    /// Draws the same token for everybody.
    struct Tokens;

    impl Enrolment for Tokens {
        fn issue(&self, _: EffectId, now: Timestamp, lasts_ms: u64) -> Result<JoinToken, Fault> {
            Ok(JoinToken::new("id".into(), "id.sesame".into(), now.after(lasts_ms), "there".into()))
        }

        fn forget(&self, _: EffectId) {}
    }

    struct One;

    impl Secrets for One {
        fn read(&self, name: &Name) -> Result<SecretData, Fault> {
            match name.as_str() {
                "there" => Ok(SecretData::new([("userData".to_owned(), "hunter2!".to_owned())].into())),
                "boot" => {
                    let text = "join <<BOOTSTRAP_TOKEN>>, or <<BOOTSTRAP_TOKEN>>; not %3C%3CBOOTSTRAP_TOKEN%3E%3E";
                    Ok(SecretData::new([("userData".to_owned(), text.to_owned())].into()))
                }
                "other" => Ok(SecretData::new([("userData".to_owned(), "sesame-too".to_owned())].into())),
                _ => Err(Fault::new(FaultCode::FailedPrecondition, format!("secret {name} does not exist"))),
            }
        }
    }

    fn name(text: &str) -> Name {
        text.parse().expect("a name")
    }

    fn wish(number: u128, secret: Option<&str>) -> CreateMachine {
        let content = ClassContent { secret: secret.map(name), ..ClassContent::with_provider(name("cloud")) };
        let class = ClassCopy { class: name("small"), revision: 1, content: Box::new(content) };
        CreateMachine {
            id: EffectId(Uuid::from_u128(number)),
            machine: name(&format!("web-{number}")),
            uid: Uid(Uuid::from_u128(number)),
            spec: Arc::new(Spec::with_provider(name("cloud"))),
            zone: None,
            class: Some(Box::new(class)),
            start: None,
            config: None,
            nonce: None,
            join: None,
            secrets: SecretData::default(),
        }
    }

    fn created(
        provider: &Talkative,
        secrets: Option<&dyn Secrets>,
        machines: Vec<CreateMachine>,
    ) -> Vec<Result<StartedMachine, Fault>> {
        let mut document = Document::default();
        document.reconciliation.creation_timeout_ms = 60;
        let policy = Arc::new(PolicyInForce { reference: None, document });
        let outfit = Outfit { secrets, enrolment: Some(&Tokens), journal: Uuid::nil(), now: Timestamp(5), policy };
        let mut answer = pin!(create(provider, outfit, machines));
        match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => answer.expect("an answer"),
            Poll::Pending => panic!("nothing is waited for"),
        }
    }

    #[test]
    fn who_lacks_a_secret_fails_alone_and_nothing_was_asked_for_it() {
        let provider = Talkative::default();
        let answers =
            created(&provider, Some(&One), vec![wish(1, Some("gone")), wish(2, None), wish(3, Some("there"))]);
        let codes: Vec<Option<FaultCode>> =
            answers.iter().map(|answer| answer.as_ref().err().map(|f| f.code)).collect();
        assert_eq!(codes, [Some(FaultCode::FailedPrecondition), None, Some(FaultCode::Internal)]);
        assert!(FaultCode::FailedPrecondition.leaves_nothing());
        let asked: Vec<Name> = provider.0.lock().unwrap().iter().map(|wish| wish.machine.clone()).collect();
        assert_eq!(asked, [name("web-2"), name("web-3")]);
        assert!(created(&provider, None, vec![wish(4, Some("there"))])[0].is_err());
    }

    #[test]
    fn the_token_to_join_with_stands_wherever_the_user_data_wants_it() {
        let provider = Talkative::default();
        let answers = created(&provider, Some(&One), vec![wish(1, Some("boot"))]);
        let asked = provider.0.lock().unwrap();
        let text = "join id.sesame, or id.sesame; not %3C%3CBOOTSTRAP_TOKEN%3E%3E";
        assert_eq!(asked[0].secrets.reveal()["userData"], text);
        // A provider that repeats the user data reveals neither it nor the token.
        assert_eq!(answers[0].as_ref().unwrap_err().text, "no luck with *** and ***");
    }

    #[test]
    fn a_machine_may_have_longer_to_join_than_others() {
        let patience = Overrides { creation_timeout_ms: Some(1_000), ..Overrides::default() };
        let patient = Spec { patience, ..Spec::with_provider(name("cloud")) };
        let provider = Talkative::default();
        created(&provider, None, vec![CreateMachine { spec: Arc::new(patient), ..wish(1, None) }]);
        let asked = provider.0.lock().unwrap();
        assert_eq!(asked[0].join.as_ref().map(|join| join.until), Some(Timestamp(1_005)));
    }

    #[test]
    fn machines_that_are_told_the_same_share_what_is_looked_for() {
        let policy = Arc::new(PolicyInForce { reference: None, document: Document::default() });
        let outfit =
            Outfit { secrets: Some(&One), enrolment: Some(&Tokens), journal: Uuid::nil(), now: Timestamp(5), policy };
        let mut told = Told::default();
        for wish in [wish(1, Some("there")), wish(2, Some("there")), wish(3, Some("boot"))] {
            outfit.fit(wish, &mut told).expect("its secrets are there");
        }
        assert_eq!(told.secrets.len(), 2);
    }

    #[test]
    fn user_data_with_its_token_is_found_whole_in_base64_and_beside_another_secret() {
        // Given user data of several lines, with the token in the middle of it
        let lines = "#!/bin/sh\nexport TOKEN=<<BOOTSTRAP_TOKEN>> # and more\nsystemctl start agent\n";
        struct Lines(&'static str);
        impl Secrets for Lines {
            fn read(&self, _: &Name) -> Result<SecretData, Fault> {
                Ok(SecretData::new([("userData".to_owned(), self.0.to_owned())].into()))
            }
        }
        let policy = Arc::new(PolicyInForce { reference: None, document: Document::default() });
        let (secrets, enrolment): (&dyn Secrets, &dyn Enrolment) = (&Lines(lines), &Tokens);
        let outfit = Outfit {
            secrets: Some(secrets),
            enrolment: Some(enrolment),
            journal: Uuid::nil(),
            now: Timestamp(5),
            policy,
        };
        let mut told = Told::default();
        outfit.fit(wish(1, Some("any")), &mut told).expect("its secrets are there");
        // When its provider tells all of it in base64, as clouds do, and the token right behind another secret's base64
        let whole = "IyEvYmluL3NoCmV4cG9ydCBUT0tFTj1pZC5zZXNhbWUgIyBhbmQgbW9yZQpzeXN0ZW1jdGwgc3RhcnQgYWdlbnQK";
        let last = "c3lzdGVtY3RsIHN0YXJ0IGFnZW50";
        // Then nothing of it is left
        assert_eq!(told.out(&format!("told {whole}!")), "told ***!");
        let left = told.out(&format!("{last}id.sesame"));
        assert!(!left.contains("same") && !left.contains("id."), "{left}");
    }

    #[test]
    fn no_secret_takes_the_place_of_another() {
        let named = |secret: &str, credentials: &str| {
            let mut wish = wish(1, Some(secret));
            wish.class.as_mut().expect("a class").content.credentials = Some(name(credentials));
            created(&Talkative::default(), Some(&One), vec![wish]).remove(0).unwrap_err()
        };
        let fault = named("there", "other");
        assert_eq!(fault.code, FaultCode::FailedPrecondition);
        let text = "secrets there and other of class small both have the key `userData`, with different values: rename it in \
                    one of them";
        assert_eq!(fault.text, text);
        assert_eq!(named("there", "there").code, FaultCode::Internal, "the same twice is no conflict: it was asked");
    }

    #[test]
    fn what_a_provider_tells_on_is_blotted_out_or_refused() {
        let secrets = SecretData::new([("userData".to_owned(), "hunter2!".to_owned())].into());
        let mut told = Told::default();
        told.add(&secrets);
        let made = |instance: &str| {
            StartedMachine::from(MachineInstance {
                effect: EffectId(Uuid::nil()),
                instance: InstanceId(instance.into()),
                machine: name("web"),
                facts: [("a hunter2!".to_owned(), "so hunter2!".to_owned())].into(),
                status: InstanceStatus::Running,
            })
        };
        let facts = told.discreet(Ok(made("i-1"))).expect("an id").instance.facts;
        assert_eq!(facts, [("a ***".to_owned(), "so ***".to_owned())].into());
        let fault = told.discreet(Ok(made("i-hunter2!"))).unwrap_err();
        assert!(fault.code == FaultCode::Unknown && !fault.text.contains("hunter2!"), "{fault}");
        let device = Device { name: "hunter2!".into(), ..Device::default() };
        let beside = StartedMachine { network: vec![device], ..made("i-1") };
        let fault = told.discreet(Ok(beside)).unwrap_err();
        assert!(fault.code == FaultCode::Unknown && !fault.text.contains("hunter2!"), "{fault}");
    }

    #[test]
    fn nothing_of_one_machine_is_told_in_the_answer_about_another() {
        // Given a batch of two classes, whose provider tells of the second what it was told of the first
        let mut told = Told::default();
        for secret in ["hunter2!", "open sesame"] {
            told.add(&SecretData::new([("userData".to_owned(), secret.to_owned())].into()));
        }
        told.tokens.add_bytes("the token to join with", b"id.token");
        // Then nothing is left of any of it, however it stands together
        let fault = told.quiet(Fault::new(FaultCode::Internal, "b3BlbiBzZXNhbWU=hunter2!id.token and open sesame"));
        assert_eq!(fault.text, "****** and ***");
    }

    #[test]
    fn who_made_it_tells_nothing_on() {
        let answers = created(&Talkative::default(), Some(&One), vec![wish(2, None)]);
        let facts = &answers[0].as_ref().expect("made").instance.facts;
        assert_eq!(*facts, BTreeMap::from([("joins with".to_owned(), "***".to_owned())]));
    }

    #[test]
    fn a_secret_is_told_to_the_provider_and_to_nobody_else() {
        let provider = Talkative::default();
        let answers = created(&provider, Some(&One), vec![wish(1, Some("there"))]);
        let asked = provider.0.lock().unwrap();
        assert_eq!(asked[0].secrets.reveal()["userData"], "hunter2!");
        assert_eq!(asked[0].nonce, Some(Nonce::of(Uuid::nil(), asked[0].id)));
        assert!(!format!("{asked:?} {answers:?}").contains("hunter2!"));
        assert_eq!(answers[0].as_ref().unwrap_err().text, "no luck with *** and ***");
        let join = asked[0].join.as_ref().expect("a token");
        assert_eq!((join.reveal(), join.until), ("id.sesame", Timestamp(65)));
        assert!(!format!("{asked:?}").contains("sesame"));
    }
}
