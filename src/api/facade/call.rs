//! One call: which facade, which method, whether the client may.

use std::{cell::Cell, rc::Rc};

use super::{
    changes::Watched,
    connection::{Call, Connection, Place, Watcher},
    containers,
    envelope::{Called, Request, nothing},
    fault::{Fault, NOT_FOUND, NOT_SUPPORTED},
    login, read,
    seen::Seen,
    watchers, write,
};

/// The versions that are served.
const VERSIONS: std::ops::RangeInclusive<u64> = 9..=11;

/// What a request comes to.
pub(super) async fn call(connection: &Rc<Connection>, request: &Request) -> Called {
    if let Place::Unknown(uuid) = &connection.place {
        return Err(Fault::new("model not found", format!("unknown model: \"{uuid}\"")));
    }
    let Some(identity) = connection.identity_in_force()? else { return login::call(connection, request) };
    match (request.facade.as_str(), request.version) {
        ("Pinger", 1) => login::ping(request),
        ("StringsWatcher" | "Provisioner", _) if connection.place == Place::Controller => {
            let message = format!("facade {:?} not supported for controller API connection", request.facade);
            Err(Fault::new(NOT_SUPPORTED, message))
        }
        ("NotifyWatcher" | "StringsWatcher", 1) => of_watcher(connection, request).await,
        ("Provisioner", version) if VERSIONS.contains(&version) => {
            if !is_method(&request.method) {
                return Err(login::unknown_method(&request.facade, version, &request.method));
            }
            let rights = connection.shared.node.look(|fleet| identity.rights(&Seen::of(fleet)))?;
            let rights = rights.ok_or_else(Fault::denied)?;
            provisioner(&Call { connection, request, rights, commands: Cell::new(0) }).await
        }
        (facade, version) => Err(login::unknown_facade(facade, version)),
    }
}

/// `Next` and `Stop` of a watcher.
async fn of_watcher(connection: &Rc<Connection>, request: &Request) -> Called {
    let unknown = || Fault::new(NOT_FOUND, "unknown watcher id");
    let watcher = connection.watcher(&request.id);
    let is_meant = |watcher: &Rc<Watcher>| watcher.watched.has_names() == (request.facade == "StringsWatcher");
    let watcher = watcher.filter(is_meant);
    match request.method.as_str() {
        "Next" => {
            let watcher = watcher.ok_or_else(unknown)?;
            watchers::next(connection, &watcher).await
        }
        "Stop" => {
            watcher.ok_or_else(unknown)?;
            connection.stop_watcher(&request.id);
            nothing()
        }
        method => Err(login::unknown_method(&request.facade, request.version, method)),
    }
}

/// The methods of the Provisioner facade.
const METHODS: [&str; 47] = [
    "APIAddresses",
    "APIHostPorts",
    "AvailabilityZone",
    "CACert",
    "Constraints",
    "ContainerConfig",
    "ContainerManagerConfig",
    "ControllerAPIInfoForModels",
    "ControllerConfig",
    "DistributionGroup",
    "DistributionGroupByMachineId",
    "EnsureDead",
    "FindTools",
    "GetContainerInterfaceInfo",
    "GetContainerProfileInfo",
    "HostChangesForContainers",
    "InstanceId",
    "InstanceStatus",
    "KeepInstance",
    "Life",
    "MachinesWithTransientErrors",
    "MarkMachinesForRemoval",
    "ModelConfig",
    "ModelUUID",
    "PrepareContainerInterfaceInfo",
    "ProvisioningInfo",
    "ReleaseContainerAddresses",
    "Remove",
    "SetCharmProfiles",
    "SetHostMachineNetworkConfig",
    "SetInstanceInfo",
    "SetInstanceStatus",
    "SetModificationStatus",
    "SetObservedNetworkConfig",
    "SetPasswords",
    "SetStatus",
    "SetSupportedContainers",
    "Status",
    "SupportedContainers",
    "Tools",
    "WatchAPIHostPorts",
    "WatchAllContainers",
    "WatchContainers",
    "WatchForModelConfigChanges",
    "WatchMachineErrorRetry",
    "WatchModelMachineStartTimes",
    "WatchModelMachines",
];

fn is_method(name: &str) -> bool {
    METHODS.contains(&name)
}

async fn provisioner(call: &Call<'_>) -> Called {
    match call.request.method.as_str() {
        "APIAddresses" => read::api_addresses(call),
        "APIHostPorts" => read::api_host_ports(call),
        "AvailabilityZone" => read::availability_zone(call).await,
        "CACert" => read::ca_cert(call),
        "Constraints" => read::constraints(call).await,
        "ContainerConfig" => read::container_config(call),
        "ContainerManagerConfig" => read::container_manager_config(call),
        "ControllerAPIInfoForModels" => read::api_info_for_models(call),
        "ControllerConfig" => read::controller_config(call),
        "DistributionGroup" => read::distribution_group(call).await,
        "DistributionGroupByMachineId" => read::distribution_group_by_machine(call).await,
        "EnsureDead" => write::ensure_dead(call).await,
        "FindTools" => read::find_tools(call),
        "GetContainerInterfaceInfo" => containers::interfaces(call, true),
        "GetContainerProfileInfo" => containers::profiles(call),
        "HostChangesForContainers" => containers::host_changes(call),
        "InstanceId" => read::instance_id(call).await,
        "InstanceStatus" => read::status(call, true).await,
        "KeepInstance" => read::keep_instance(call).await,
        "Life" => read::life(call).await,
        "MachinesWithTransientErrors" => read::transient_errors(call),
        "MarkMachinesForRemoval" => write::mark_for_removal(call).await,
        "ModelConfig" => read::model_config(call),
        "ModelUUID" => read::model_uuid(call),
        "PrepareContainerInterfaceInfo" => containers::interfaces(call, false),
        "ProvisioningInfo" => read::provisioning_info(call).await,
        "ReleaseContainerAddresses" => write::release_addresses(call).await,
        "Remove" => write::remove(call).await,
        "SetCharmProfiles" => write::set_profiles(call).await,
        "SetHostMachineNetworkConfig" | "SetObservedNetworkConfig" => write::set_network(call).await,
        "SetInstanceInfo" => write::set_instance(call).await,
        "SetInstanceStatus" => write::set_instance_status(call).await,
        "SetModificationStatus" => write::set_modification_status(call).await,
        "SetPasswords" => write::set_passwords(call).await,
        "SetStatus" => write::set_status(call).await,
        "SetSupportedContainers" => write::set_supported_containers(call).await,
        "Status" => read::status(call, false).await,
        "SupportedContainers" => read::supported_containers(call).await,
        "Tools" => read::tools(call),
        "WatchAPIHostPorts" => watchers::notify(call, Watched::ApiHostPorts),
        "WatchAllContainers" => watchers::containers(call, true),
        "WatchContainers" => watchers::containers(call, false),
        "WatchForModelConfigChanges" => watchers::notify(call, Watched::ModelConfig),
        "WatchMachineErrorRetry" => watchers::of_controller(call, Watched::ErrorRetry),
        "WatchModelMachineStartTimes" => watchers::of_controller(call, Watched::Starts),
        "WatchModelMachines" => watchers::of_controller(call, Watched::Machines),
        other => Err(login::unknown_method(&call.request.facade, call.request.version, other)),
    }
}
