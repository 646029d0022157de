//! Forwards every method of `ServerHandler` to the wrapped handler.
//!
//! Only the methods for tools and capabilities, which come first, do more than that.
#![allow(deprecated, reason = "methods that rmcp has deprecated are forwarded, too")]

use std::borrow::Cow;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam,
    CompleteRequestParams, CompleteResult, CustomNotification, CustomRequest, CustomResult,
    DiscoverResult, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerConfig,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::Validated;
use super::announce::Announcement;
use super::calls::Admission;

type Context = RequestContext<RoleServer>;
type Notified = NotificationContext<RoleServer>;

impl<H: ServerHandler> ServerHandler for Validated<H> {
    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.admit(&request, &context).await {
            Admission::Rejected(answer) => return answer,
            Admission::Admitted(Some(repaired)) => request.arguments = Some(repaired),
            Admission::Admitted(None) => {}
        }
        if self.is_validation_call(&request.name, &context).await {
            return self.handle_validation_call(&request, &context).await;
        }
        if let Some(answer) = self.semantic_rejection(&request, &context).await {
            return answer;
        }
        let tool = request.name.clone();
        let outcome = self.guard("tools/call", || self.handler.call_tool(request, context)).await;
        self.enhance(&tool, outcome)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let params = request.clone();
        let list = self.guard("tools/list", || self.handler.list_tools(request, context.clone()));
        let mut list = list.await?;
        let is_complete = self.cache_if_complete(params.as_ref(), &list);
        if list.next_cursor.is_none() {
            let entry = self.validation_entry(&list.tools, is_complete, &context).await;
            list.tools.extend(entry);
        }
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.handler.get_tool(name).or_else(|| self.validation_tool_by_name(name))
    }

    fn get_info(&self) -> ServerConfig {
        let mut info = self.handler.get_info();
        self.announce(&mut info.capabilities, Announcement::Modern, None);
        info
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        let announce_context = context.clone();
        let answer = self.guard("initialize", || self.handler.initialize(request, context));
        let mut answer = answer.await?;
        self.announce(&mut answer.capabilities, Announcement::Legacy, Some(&announce_context));
        Ok(answer)
    }

    fn negotiate_initialize(
        &self,
        request: &InitializeRequestParams,
    ) -> Result<InitializeResult, ErrorData> {
        let mut answer = self.handler.negotiate_initialize(request)?;
        self.announce(&mut answer.capabilities, Announcement::Legacy, None);
        Ok(answer)
    }

    async fn discover(&self, context: Context) -> Result<DiscoverResult, ErrorData> {
        let announce_context = context.clone();
        let answer = self.guard("server/discover", || self.handler.discover(context));
        let mut answer = answer.await?;
        self.announce(&mut answer.capabilities, Announcement::Modern, Some(&announce_context));
        Ok(answer)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.handler.supported_protocol_versions()
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.handler.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.guard("subscriptions/listen", || self.handler.listen(context)).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        self.guard("a custom method", || self.handler.on_custom_request(request, context)).await
    }

    async fn ping(&self, context: Context) -> Result<(), ErrorData> {
        self.guard("ping", || self.handler.ping(context)).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        self.guard("completion/complete", || self.handler.complete(request, context)).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.guard("logging/setLevel", || self.handler.set_level(request, context)).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.guard("prompts/get", || self.handler.get_prompt(request, context)).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.guard("prompts/list", || self.handler.list_prompts(request, context)).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.guard("resources/list", || self.handler.list_resources(request, context)).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.guard("resources/templates/list", || {
            self.handler.list_resource_templates(request, context)
        })
        .await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.guard("resources/read", || self.handler.read_resource(request, context)).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.guard("resources/subscribe", || self.handler.subscribe(request, context)).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.guard("resources/unsubscribe", || self.handler.unsubscribe(request, context)).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: Context,
    ) -> Result<GetTaskResult, ErrorData> {
        self.guard("tasks/get", || self.handler.get_task(request, context)).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.guard("tasks/update", || self.handler.update_task(request, context)).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.guard("tasks/cancel", || self.handler.cancel_task(request, context)).await
    }

    async fn on_cancelled(&self, notification: CancelledNotificationParam, context: Notified) {
        self.handler.on_cancelled(notification, context).await;
    }

    async fn on_progress(&self, notification: ProgressNotificationParam, context: Notified) {
        self.handler.on_progress(notification, context).await;
    }

    async fn on_custom_notification(&self, notification: CustomNotification, context: Notified) {
        self.handler.on_custom_notification(notification, context).await;
    }

    async fn on_initialized(&self, context: Notified) {
        self.handler.on_initialized(context).await;
    }

    async fn on_roots_list_changed(&self, context: Notified) {
        self.handler.on_roots_list_changed(context).await;
    }
}
